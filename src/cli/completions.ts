// Completions for shells, made of the list of options and that of subcommands.
import { flagOf, OPTION_KEYS, OPTIONS } from '../options.ts'
import { SHELLS, type Shell, SUBCOMMANDS } from './subcommands.ts'

const USAGE = 2

/** What can be typed after a flag: words of a closed list, files, or anything. */
type Values = readonly string[] | 'file' | 'any' | undefined

interface Flag {
  readonly flag: string
  readonly sentence: string
  /** Undefined: it takes no value. */
  readonly values: Values
}

/** Prints the script for a shell. */
export function completionsCommand(argv: readonly string[]): number {
  const [word] = argv
  const shell = SHELLS.find((each) => each === word)
  if (shell !== undefined && argv.length === 1) {
    process.stdout.write(completionsFor(shell))
    return 0
  }
  const help = word === '-h' || word === '--help'
  const message = 'devchain completions bash|zsh|fish\n'
  if (help) process.stdout.write(message)
  else process.stderr.write(`devchain: completions: expected one shell: ${message}`)
  return help ? 0 : USAGE
}

/** The script that makes a shell complete the words of devchain. */
export function completionsFor(shell: Shell): string {
  return { bash, zsh, fish }[shell]()
}

/** The flags that start a chain. */
function chainFlags(): readonly Flag[] {
  const own = OPTION_KEYS.map((key) => {
    const { type, sentence } = OPTIONS[key]
    return { flag: flagOf(key), sentence, values: valuesOf(type.placeholder) }
  })
  return [
    ...own,
    { flag: '--help', sentence: 'Print help', values: undefined },
    { flag: '--version', sentence: 'Print the version', values: undefined },
  ]
}

function subcommandFlags(name: string): readonly Flag[] {
  const { flags, startsChain } = SUBCOMMANDS.find((each) => each.name === name)!
  const own = flags.map(({ flags: text, sentence }) => {
    const [flag = '', placeholder] = text.split(' ')
    return { flag, sentence, values: valuesOf(placeholder?.slice(1, -1)) }
  })
  const names = new Set(own.map(({ flag }) => flag))
  return startsChain === true
    ? [...own, ...chainFlags().filter(({ flag }) => !names.has(flag))]
    : [...own, { flag: '--help', sentence: 'Print help', values: undefined }]
}

/** What a placeholder says: `pretty|json` are two words, FILE a file. */
function valuesOf(placeholder: string | undefined): Values {
  if (placeholder === undefined) return undefined
  if (placeholder === 'FILE') return 'file'
  const words = placeholder.split('|').filter((word) => /^[a-z]+$/.test(word))
  return words.length === 0 ? 'any' : words
}

/** The words that an argument of a subcommand may be; files for `<file>`. */
function argumentValues(declared: string): Values {
  const [, first = ''] = /^[<[]([^>\]]*)/.exec(declared) ?? []
  return first === 'file' ? 'file' : valuesOf(first.includes('|') ? first : undefined)
}

function bash(): string {
  const cases = (flags: readonly Flag[]): string =>
    flags
      .filter(({ values }) => values !== undefined)
      .map(({ flag, values }) => `      ${flag}) ${bashReply(values)}; return ;;`)
      .join('\n')
  const words = (flags: readonly Flag[]): string => flags.map(({ flag }) => flag).join(' ')
  const names = SUBCOMMANDS.map(({ name }) => name).join(' ')
  const branches = SUBCOMMANDS.map(({ name, arguments: declared }) => {
    const flags = subcommandFlags(name)
    const values = argumentValues(declared)
    const reply =
      values === undefined
        ? `COMPREPLY=($(compgen -W '${words(flags)}' -- "$word"))`
        : `case $word in -*) COMPREPLY=($(compgen -W '${words(flags)}' -- "$word")) ;; *) ${bashReply(values)} ;; esac`
    return `    ${name})
      case $before in
${cases(flags)}
      esac
      ${reply} ;;`
  })
  return `# Completions of devchain for bash.
_devchain() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} command=''
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
  if (values === 'file') return 'COMPREPLY=($(compgen -f -- "$word"))'
  return values === 'any' || values === undefined
    ? 'COMPREPLY=()'
    : `COMPREPLY=($(compgen -W '${values.join(' ')}' -- "$word"))`
}

function zsh(): string {
  const spec = ({ flag, sentence, values }: Flag): string => {
    const head = `${flag}[${quoted(sentence)}]`
    if (values === undefined) return `'${head}'`
    const action = values === 'file' ? '_files' : values === 'any' ? ' ' : `(${values.join(' ')})`
    return `'${head}:value:${action}'`
  }
  const specs = (flags: readonly Flag[]): string => flags.map(spec).join(' \\\n        ')
  const described = SUBCOMMANDS.map(
    ({ name, sentence }) => `    '${name}:${quoted(sentence)}'`,
  ).join('\n')
  const branches = SUBCOMMANDS.map(({ name, arguments: declared }) => {
    const values = argumentValues(declared)
    const rest =
      values === undefined
        ? ''
        : ` \\\n        '*:word:${values === 'file' ? '_files' : `(${(values as readonly string[]).join(' ')})`}'`
    return `    ${name})
      _arguments \\
        ${specs(subcommandFlags(name))}${rest} ;;`
  })
  return `#compdef devchain
# Completions of devchain for zsh.
_devchain() {
  local -a commands=(
${described}
  )
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    _describe command commands
    return
  fi
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

/** Within single quotes of zsh, where brackets and colons of a description mean something. */
function quoted(sentence: string): string {
  return sentence.replaceAll("'", "'\\''").replaceAll(/[[\]:]/g, '\\$&')
}

function fish(): string {
  const line = (condition: string, { flag, sentence, values }: Flag): string => {
    const value =
      values === undefined
        ? ''
        : values === 'file'
          ? ' -r -F'
          : values === 'any'
            ? ' -x'
            : ` -x -a '${values.join(' ')}'`
    return `complete -c devchain -n '${condition}' -l ${flag.slice(2)}${value} -d ${fishText(sentence)}`
  }
  const names = SUBCOMMANDS.map(({ name }) => name).join(' ')
  const isAlone = `not __fish_seen_subcommand_from ${names}`
  const lines = SUBCOMMANDS.flatMap(({ name, sentence, arguments: declared }) => {
    const isIn = `__fish_seen_subcommand_from ${name}`
    const values = argumentValues(declared)
    const words =
      values === undefined || values === 'any'
        ? []
        : [
            `complete -c devchain -n '${isIn}' ${values === 'file' ? '-F' : `-a '${values.join(' ')}'`}`,
          ]
    return [
      `complete -c devchain -n '${isAlone}' -a ${name} -d ${fishText(sentence)}`,
      ...words,
      ...subcommandFlags(name).map((flag) => line(isIn, flag)),
    ]
  })
  return [
    '# Completions of devchain for fish.',
    'complete -c devchain -f',
    ...lines,
    ...chainFlags().map((flag) => line(isAlone, flag)),
    '',
  ].join('\n')
}

function fishText(sentence: string): string {
  return `'${sentence.replaceAll(/['\\]/g, '\\$&')}'`
}
