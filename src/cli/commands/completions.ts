// Completions for shells, made of the list of options and that of subcommands.
import { DevchainError, printValue } from '../../core/errors.ts'
import { flagOf, OPTION_KEYS } from '../../options/derived.ts'
import { OPTIONS } from '../../options/table.ts'
import { HARDFORKS } from '../../protocol/forks.ts'
import { complain, print } from '../output.ts'
import type { CommandLine } from '../parse/commandline.ts'
import {
  EXIT,
  SHELLS,
  type Shell,
  SUBCOMMANDS,
  type Subcommand,
  type SubcommandName,
  subcommandOf,
} from '../parse/subcommands.ts'

/** What can be typed after a flag: words of a closed list, files, what a running chain tells, or anything. */
type Values = readonly string[] | 'file' | 'snapshots' | 'any' | undefined

interface Flag {
  readonly flag: string
  readonly sentence: string
  /** Undefined: it takes no value. */
  readonly values: Values
}

/**
 * Prints the script for a shell.
 * @returns the exit code
 */
export async function completionsCommand({ words }: Pick<CommandLine, 'words'>): Promise<number> {
  try {
    const shell = SHELLS.find((each) => each === words[0])
    if (shell === undefined) {
      const message = `expected one shell of ${SHELLS.join(', ')}, got ${printValue(words[0])}`
      throw new DevchainError('INVALID_PARAMS', message)
    }
    const { methods } = await import('../../methods/index.ts')
    const names = methods.flatMap(({ name, aliases }) => [name, ...aliases])
    await print(completionsFor(shell, names.sort()))
    return EXIT.ok
  } catch (error) {
    if (!(error instanceof DevchainError)) throw error
    await complain(`devchain: completions: ${error.message}\n`)
    return EXIT.usage
  }
}

/**
 * The script that makes a shell complete the words of devchain.
 * @param methods the names that `devchain rpc` may call
 */
export function completionsFor(shell: Shell, methods: readonly string[]): string {
  return { bash, zsh, fish }[shell](methods)
}

/** The flags that start a chain. */
function chainFlags(): readonly Flag[] {
  const own = OPTION_KEYS.map((key) => {
    const { type, sentence } = OPTIONS[key]
    const values = key === 'hardfork' ? HARDFORKS : valuesOf(type.placeholder)
    return { flag: flagOf(key), sentence, values }
  })
  return [
    ...own,
    { flag: '--help', sentence: 'Print help', values: undefined },
    { flag: '--version', sentence: 'Print the version', values: undefined },
  ]
}

function subcommandFlags(name: SubcommandName): readonly Flag[] {
  const { flags, startsChain } = subcommandOf(name)
  const own = flags.map(({ name: flag, sentence, placeholder }) => ({
    flag,
    sentence,
    values: valuesOf(placeholder),
  }))
  const names = new Set<string>(own.map(({ flag }) => flag))
  return startsChain === true
    ? [...own, ...chainFlags().filter(({ flag }) => !names.has(flag))]
    : [...own, { flag: '--help', sentence: 'Print help', values: undefined }]
}

/** What a placeholder says: `pretty|json` are two words, FILE a file, SNAPSHOT one of a running chain. */
function valuesOf(placeholder: string | undefined): Values {
  if (placeholder === undefined) return undefined
  if (placeholder === 'FILE') return 'file'
  if (placeholder === 'SNAPSHOT') return 'snapshots'
  const words = placeholder.split('|').filter((word) => /^[a-z]+\d*$/.test(word))
  return words.length === 0 ? 'any' : words
}

/** What the first argument of a subcommand may be; undefined where nothing is known of it. */
function argumentValues({ arguments: [first] }: Subcommand, methods: readonly string[]): Values {
  const values = first?.values
  if (values === 'methods') return methods
  if (values === 'files') return 'file'
  if (values === 'snapshots') return 'snapshots'
  return typeof values === 'string' ? undefined : values
}

/** In bash: what comes after `--` is another program with its arguments, which are completed as they would be alone. */
const AFTER_HYPHENS = `
      for ((at = 2; at < COMP_CWORD; at++)); do
        [[ \${COMP_WORDS[at]} == -- ]] || continue
        [[ $at -eq $((COMP_CWORD - 1)) ]] && COMPREPLY=($(compgen -c -- "$word"))
        return
      done`

/** In zsh, the same. */
const ZSH_AFTER_HYPHENS = `
      local -i at=\${words[(i)--]}
      if (( at < CURRENT )); then
        shift $at words
        (( CURRENT -= at ))
        _normal
        return
      fi`

/** In fish, the same. */
const FISH_AFTER_HYPHENS = `function __devchain_command
  complete -C (commandline -cp | string replace -r '.*? -- ' '')
end`

/**
 * In bash: the names of a running chain's snapshots, nothing where none runs. Bash splits words at colons, so a reply
 * leaves out what the word has up to its last colon.
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

/** In zsh, the same. */
const ZSH_SNAPSHOTS = `_devchain_snapshots() {
  local -a names url=(\${(M)words:#--url=*})
  (( \${words[(I)--url]} )) && url=(--url $words[\${words[(I)--url]}+1])
  names=(\${(f)"$($program snapshots --names $url 2>/dev/null)"})
  compadd -a names
}`

/** In fish, the same. */
const FISH_SNAPSHOTS = `function __devchain_snapshots
  set -l words (commandline -opc)
  set -l url (commandline -p | string replace -rf -- '.*--url[= ](\\S+).*' '$1')
  $words[1] snapshots --names --url=$url 2>/dev/null
end`

function bash(methods: readonly string[]): string {
  const cases = (flags: readonly Flag[]): string =>
    flags
      .filter(({ values }) => values !== undefined)
      .map(({ flag, values }) => `      ${flag}) ${bashReply(values)}; return ;;`)
      .join('\n')
  const words = (flags: readonly Flag[]): string => flags.map(({ flag }) => flag).join(' ')
  const names = SUBCOMMANDS.map(({ name }) => name).join(' ')
  const branches = SUBCOMMANDS.map((subcommand) => {
    const { name, startsChain } = subcommand
    const flags = subcommandFlags(name)
    const values = argumentValues(subcommand, methods)
    const reply =
      values === undefined
        ? `COMPREPLY=($(compgen -W '${words(flags)}' -- "$word"))`
        : `case $word in -*) COMPREPLY=($(compgen -W '${words(flags)}' -- "$word")) ;; *) ${bashReply(values)} ;; esac`
    return `    ${name})${startsChain === true ? AFTER_HYPHENS : ''}
      case $before in
${cases(flags)}
      esac
      ${reply} ;;`
  })
  return `# Completions of devchain for bash.
${BASH_SNAPSHOTS}
_devchain() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} command='' at
  [[ $COMP_CWORD -gt 1 ]] && command=\${COMP_WORDS[1]}
  COMPREPLY=()
  case $command in
${branches.join('\n')}
    *)
      case $before in
${cases(chainFlags())}
      esac
      local words='${words(chainFlags())}'
      [[ $COMP_CWORD -eq 1 ]] && words="${names} $words"
      COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
  esac
}
complete -o bashdefault -o default -F _devchain devchain
`
}

function bashReply(values: Values): string {
  if (values === 'snapshots') return '_devchain_snapshots'
  if (values === 'file') return 'COMPREPLY=($(compgen -f -- "$word"))'
  return values === 'any' || values === undefined
    ? 'COMPREPLY=()'
    : `COMPREPLY=($(compgen -W '${values.join(' ')}' -- "$word"))`
}

function zsh(methods: readonly string[]): string {
  const spec = ({ flag, sentence, values }: Flag): string => {
    const head = `${flag}[${quoted(sentence)}]`
    if (values === undefined) return `'${head}'`
    return `'${head}:value:${zshAction(values)}'`
  }
  const specs = (flags: readonly Flag[]): string => flags.map(spec).join(' \\\n        ')
  const described = SUBCOMMANDS.map(
    ({ name, sentence }) => `    '${name}:${quoted(sentence)}'`,
  ).join('\n')
  const branches = SUBCOMMANDS.map((subcommand) => {
    const { name, startsChain } = subcommand
    const values = argumentValues(subcommand, methods)
    const before = startsChain === true ? ZSH_AFTER_HYPHENS : ''
    const rest = values === undefined ? '' : ` \\\n        '1:word:${zshAction(values)}'`
    return `    ${name})
      shift words
      (( CURRENT-- ))${before}
      _arguments \\
        ${specs(subcommandFlags(name))}${rest} \\
        '*: : ' ;;`
  })
  return `#compdef devchain
# Completions of devchain for zsh.
${ZSH_SNAPSHOTS}
_devchain() {
  local -a commands=(
${described}
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

function zshAction(values: Exclude<Values, undefined>): string {
  if (values === 'file') return '_files'
  if (values === 'snapshots') return '_devchain_snapshots'
  return values === 'any' ? ' ' : `(${values.join(' ')})`
}

/** Within single quotes of zsh, where brackets and colons of a description mean something. */
function quoted(sentence: string): string {
  return sentence.replaceAll("'", "'\\''").replaceAll(/[[\]:]/g, '\\$&')
}

function fish(methods: readonly string[]): string {
  const line = (condition: string, { flag, sentence, values }: Flag): string => {
    const value =
      values === undefined
        ? ''
        : values === 'file'
          ? ' -r -F'
          : values === 'any'
            ? ' -x'
            : ` -x -a '${fishWords(values)}'`
    return `complete -c devchain -n '${condition}' -l ${flag.slice(2)}${value} -d ${fishText(sentence)}`
  }
  const names = SUBCOMMANDS.map(({ name }) => name).join(' ')
  const isAlone = `not __fish_seen_subcommand_from ${names}`
  const lines = SUBCOMMANDS.flatMap((subcommand) => {
    const { name, sentence } = subcommand
    const isIn = `__fish_seen_subcommand_from ${name}`
    const values = argumentValues(subcommand, methods)
    const words =
      values === undefined || values === 'any'
        ? []
        : [
            `complete -c devchain -n '${isIn}' ${values === 'file' ? '-F' : `-a '${fishWords(values)}'`}`,
          ]
    if (subcommand.startsChain === true) {
      const isAfter = `${isIn}; and contains -- -- (commandline -opc)`
      words.push(`complete -c devchain -n '${isAfter}' -x -a '(__devchain_command)'`)
    }
    return [
      `complete -c devchain -n '${isAlone}' -a ${name} -d ${fishText(sentence)}`,
      ...words,
      ...subcommandFlags(name).map((flag) => line(isIn, flag)),
    ]
  })
  return [
    '# Completions of devchain for fish.',
    FISH_SNAPSHOTS,
    FISH_AFTER_HYPHENS,
    'complete -c devchain -f',
    ...lines,
    ...chainFlags().map((flag) => line(isAlone, flag)),
    '',
  ].join('\n')
}

function fishWords(values: readonly string[] | 'snapshots'): string {
  return values === 'snapshots' ? '(__devchain_snapshots)' : values.join(' ')
}

function fishText(sentence: string): string {
  return `'${sentence.replaceAll(/['\\]/g, '\\$&')}'`
}
