// Shell completions, derived from the options and subcommands.
import { invalidParams, printValue } from '../../core/errors.ts'
import { flagOf, OPTION_KEYS } from '../../options/derived.ts'
import { OPTIONS } from '../../options/table.ts'
import { HARDFORKS } from '../../protocol/forks.ts'
import type { CommandLine } from '../parse/commandline.ts'
import { SHELLS, type Shell, SUBCOMMANDS, type Subcommand } from '../parse/subcommands.ts'

/** What may follow a flag: listed words, files, names of snapshots from a running chain, or anything. */
type Values = readonly string[] | 'files' | 'snapshots' | 'any'

interface Flag {
  readonly flag: string
  readonly sentence: string
  /** Undefined: it takes no value. */
  readonly values: Values | undefined
}

interface Command extends Pick<Subcommand, 'name' | 'sentence' | 'startsChain'> {
  readonly flags: readonly Flag[]
  /** Undefined if its arguments are unknown. */
  readonly argument: Values | undefined
}

/** @returns the text to print */
export async function completionsCommand({ words }: Pick<CommandLine, 'words'>): Promise<string> {
  const shell = SHELLS.find((each) => each === words[0])
  if (shell === undefined) {
    throw invalidParams(`expected one of ${SHELLS.join(', ')}, got ${printValue(words[0])}`)
  }
  const { methods } = await import('../../methods/index.ts')
  const names = methods.flatMap(({ name, aliases }) => [name, ...aliases])
  return completionsFor(shell, names.sort())
}

/** @param methods that `devchain rpc` may call */
export function completionsFor(shell: Shell, methods: readonly string[]): string {
  const commands = SUBCOMMANDS.map((each) => ({
    ...each,
    flags: flagsOf(each),
    argument: argumentOf(each, methods),
  }))
  return { bash, zsh, fish }[shell](commands)
}

const HELP: Flag = { flag: '--help', sentence: 'Print help', values: undefined }

function chainFlags(): readonly Flag[] {
  const own = OPTION_KEYS.map((key) => {
    const { type, sentence } = OPTIONS[key]
    const values = key === 'hardfork' ? HARDFORKS : valuesOf(type.placeholder)
    return { flag: flagOf(key), sentence, values }
  })
  return [...own, HELP, { flag: '--version', sentence: 'Print the version', values: undefined }]
}

function flagsOf({ flags, startsChain }: Subcommand): readonly Flag[] {
  const own = flags.map(({ name: flag, sentence, placeholder }) => {
    return { flag, sentence, values: valuesOf(placeholder) }
  })
  const others = startsChain === true ? chainFlags() : [HELP]
  return [...own, ...others.filter(({ flag }) => own.every((each) => each.flag !== flag))]
}

/** From the placeholder: `pretty|json` are two words, FILE a file, SNAPSHOT a name from a running chain. */
function valuesOf(placeholder: string | undefined): Values | undefined {
  if (placeholder === undefined) return undefined
  if (placeholder === 'FILE') return 'files'
  if (placeholder === 'SNAPSHOT') return 'snapshots'
  const words = placeholder.split('|').filter((word) => /^[a-z]+\d*$/.test(word))
  return words.length === 0 ? 'any' : words
}

function argumentOf(
  { arguments: [first] }: Subcommand,
  methods: readonly string[],
): Values | undefined {
  const values = first?.values
  if (values === 'methods') return methods
  return values === 'commands' ? undefined : values
}

/** Bash: completes the program after `--` as if it stood alone. */
const AFTER_HYPHENS = `
      for ((at = 2; at < COMP_CWORD; at++)); do
        [[ \${COMP_WORDS[at]} == -- ]] || continue
        [[ $at -eq $((COMP_CWORD - 1)) ]] && COMPREPLY=($(compgen -c -- "$word"))
        return
      done`

/** Zsh, the same. */
const ZSH_AFTER_HYPHENS = `
      local -i at=\${words[(i)--]}
      if (( at < CURRENT )); then
        shift $at words
        (( CURRENT -= at ))
        _normal
        return
      fi`

/** Fish, the same. */
const FISH_AFTER_HYPHENS = `function __devchain_command
  complete -C (commandline -cp | string replace -r '.*? -- ' '')
end`

/**
 * Bash: snapshot names of a running chain, if any. Bash splits words at colons, so the reply omits the word's part up to
 * its last colon.
 */
const BASH_SNAPSHOTS = `_devchain_snapshots() {
  local line=\${COMP_LINE:0:COMP_POINT} name url=()
  [[ $COMP_LINE =~ --url[=\\ ]+([^\\ ]+) ]] && url=(--url "\${BASH_REMATCH[1]}")
  local typed=\${line##*[!\\\\] }
  typed=\${typed##*=}
  typed=\${typed//\\\\/}
  local kept=\${typed%"\${typed##*:}"}
  while IFS= read -r name; do
    [[ $name == "$typed"* ]] && COMPREPLY+=("$(printf %q "\${name:\${#kept}}")")
  done < <("\${COMP_WORDS[0]}" snapshots --names "\${url[@]}" 2>/dev/null)
}`

/** Zsh, the same. */
const ZSH_SNAPSHOTS = `_devchain_snapshots() {
  local -a names url=(\${(M)words:#--url=*})
  (( \${words[(I)--url]} )) && url=(--url $words[\${words[(I)--url]}+1])
  names=(\${(f)"$($program snapshots --names $url 2>/dev/null)"})
  compadd -a names
}`

/** Fish, the same. */
const FISH_SNAPSHOTS = `function __devchain_snapshots
  set -l words (commandline -opc)
  set -l url (commandline -p | string replace -rf -- '.*--url[= ](\\S+).*' '$1')
  $words[1] snapshots --names --url=$url 2>/dev/null
end`

function bash(commands: readonly Command[]): string {
  const place = (flags: readonly Flag[], reply: string): string => {
    const cases = flags.flatMap(({ flag, values }) =>
      values === undefined ? [] : `      ${flag}) ${bashReply(values)}; return ;;`,
    )
    return ['      case $before in', ...cases, '      esac', `      ${reply} ;;`].join('\n')
  }
  const branches = commands.map(({ name, flags, argument, startsChain }) => {
    const own = bashReply(flags.map(({ flag }) => flag))
    const reply =
      argument === undefined ? own : `case $word in -*) ${own} ;; *) ${bashReply(argument)} ;; esac`
    return `    ${name})${startsChain ? AFTER_HYPHENS : ''}\n${place(flags, reply)}`
  })
  const names = bashReply(commands.map(({ name }) => name)).replace('=', '+=')
  const reply = `${bashReply(chainFlags().map(({ flag }) => flag))}
      [[ $COMP_CWORD -eq 1 ]] && ${names}`
  return `# Completions of devchain for bash.
${BASH_SNAPSHOTS}
_devchain() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} command='' at
  [[ $COMP_CWORD -gt 1 ]] && command=\${COMP_WORDS[1]}
  COMPREPLY=()
  case $command in
${branches.join('\n')}
    *)
${place(chainFlags(), reply)}
  esac
}
complete -o bashdefault -o default -F _devchain devchain
`
}

function bashReply(values: Values): string {
  if (values === 'snapshots') return '_devchain_snapshots'
  if (values === 'files') return 'COMPREPLY=($(compgen -f -- "$word"))'
  if (values === 'any') return 'COMPREPLY=()'
  return `COMPREPLY=($(compgen -W '${values.join(' ')}' -- "$word"))`
}

function zsh(commands: readonly Command[]): string {
  const specs = (flags: readonly Flag[]): string =>
    flags
      .map(({ flag, sentence, values }) => {
        const action = values === undefined ? '' : `:value:${zshAction(values)}`
        return `'${flag}[${quoted(sentence)}]${action}'`
      })
      .join(' \\\n        ')
  const described = commands.map(({ name, sentence }) => `    '${name}:${quoted(sentence)}'`)
  const branches = commands.map(({ name, flags, argument, startsChain }) => {
    const rest = argument === undefined ? '' : ` \\\n        '1:word:${zshAction(argument)}'`
    return `    ${name})
      shift words
      (( CURRENT-- ))${startsChain ? ZSH_AFTER_HYPHENS : ''}
      _arguments \\
        ${specs(flags)}${rest} \\
        '*: : ' ;;`
  })
  return `#compdef devchain
# Completions of devchain for zsh.
${ZSH_SNAPSHOTS}
_devchain() {
  local -a commands=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    _describe command commands
    return
  fi
  local program=$words[1]
  case $words[2] in
${branches.join('\n')}
    *)
      _arguments \\
        ${specs(chainFlags())} ;;
  esac
}
if [[ $funcstack[1] == _devchain ]]; then _devchain "$@"; else compdef _devchain devchain; fi
`
}

function zshAction(values: Values): string {
  if (values === 'files') return '_files'
  if (values === 'snapshots') return '_devchain_snapshots'
  return values === 'any' ? ' ' : `(${values.join(' ')})`
}

/** Escapes for single quotes in zsh, where brackets and colons of a description have a meaning. */
function quoted(sentence: string): string {
  return sentence.replaceAll("'", "'\\''").replaceAll(/[[\]:]/g, '\\$&')
}

function fish(commands: readonly Command[]): string {
  const line = (condition: string, words: string): string =>
    `complete -c devchain -n '${condition}' ${words}`
  const flagWords = ({ flag, sentence, values }: Flag): string =>
    `-l ${flag.slice(2)}${values === undefined ? '' : ` ${fishFlagValue(values)}`} -d ${fishText(sentence)}`
  const isAlone = `not __fish_seen_subcommand_from ${commands.map(({ name }) => name).join(' ')}`
  const lines = commands.flatMap(({ name, sentence, flags, argument, startsChain }) => {
    const isIn = `__fish_seen_subcommand_from ${name}`
    const isAfter = `${isIn}; and contains -- -- (commandline -opc)`
    return [
      line(isAlone, `-a ${name} -d ${fishText(sentence)}`),
      ...(argument === undefined || argument === 'any' ? [] : [line(isIn, fishAction(argument))]),
      ...(startsChain ? [line(isAfter, "-x -a '(__devchain_command)'")] : []),
      ...flags.map((flag) => line(isIn, flagWords(flag))),
    ]
  })
  return [
    '# Completions of devchain for fish.',
    FISH_SNAPSHOTS,
    FISH_AFTER_HYPHENS,
    'complete -c devchain -f',
    ...lines,
    ...chainFlags().map((flag) => line(isAlone, flagWords(flag))),
    '',
  ].join('\n')
}

function fishFlagValue(values: Values): string {
  if (values === 'files') return '-r -F'
  return values === 'any' ? '-x' : `-x ${fishAction(values)}`
}

function fishAction(values: Exclude<Values, 'any'>): string {
  if (values === 'files') return '-F'
  return `-a '${values === 'snapshots' ? '(__devchain_snapshots)' : values.join(' ')}'`
}

function fishText(sentence: string): string {
  return `'${sentence.replaceAll(/['\\]/g, '\\$&')}'`
}
