// Methods by name: aliases, disabled modules, and suggestions for unknown names.
import { DevchainError, printValue } from '../core/errors.ts'
import { nearest } from '../core/nearest.ts'
import type { Alias } from '../options/values.ts'
import type { Method } from './method.ts'

export interface RegistryOptions<C> {
  readonly methods: readonly Method<C>[]
  readonly disabled?: readonly string[]
  readonly aliases?: readonly Alias[]
  /** Methods treated as unknown; an alias may still lead to them. */
  readonly absent?: readonly string[]
}

export interface Registry<C> {
  readonly methods: ReadonlyMap<string, Method<C>>
  readonly disabled: ReadonlyMap<string, string>
  readonly disabledModules: readonly string[]
}

/** The part before the first underscore or dot. */
export function moduleOf(name: string): string {
  return name.split(/[_.]/, 1)[0] ?? name
}

export function createRegistry<C>(options: RegistryOptions<C>): Registry<C> {
  const { disabled: disabledModules = [] } = options
  const all = byEveryName(options)
  const disabled = new Map<string, string>()
  if (disabledModules.length === 0) return { methods: all, disabled, disabledModules }
  for (const [name, method] of all) {
    // a method of a disabled module is not available under another module's name either
    const modules = [moduleOf(name), moduleOf(method.name)]
    const module = modules.find((each) => disabledModules.includes(each))
    if (module !== undefined) disabled.set(name, module)
  }
  for (const name of disabled.keys()) all.delete(name)
  return { methods: all, disabled, disabledModules }
}

/** All names: own ones and aliases; an absent name only if it is an alias. */
function byEveryName<C>(options: RegistryOptions<C>): Map<string, Method<C>> {
  const { methods, absent = [], aliases = [] } = options
  const all = new Map<string, Method<C>>()
  for (const method of methods) {
    all.set(method.name, method)
    for (const name of method.aliases) all.set(name, method)
  }
  const given = new Map<string, Method<C>>()
  for (const { from, to } of aliases) {
    const prefix = to.endsWith('*') ? to.slice(0, -1) : undefined
    for (const [name, method] of [...all, ...given]) {
      if (name === to) given.set(from, method)
      else if (prefix !== undefined && name.startsWith(prefix)) {
        given.set(from.slice(0, -1) + name.slice(prefix.length), method)
      }
    }
  }
  for (const name of absent) all.delete(name)
  return new Map([...all, ...given])
}

export function unknownMethod<C>(
  name: string,
  { methods, disabled, disabledModules }: Registry<C>,
): DevchainError {
  const shown = /^[\w.]{1,100}$/.test(name) ? name : printValue(name)
  const module = disabled.get(name) ?? disabledModules.find((each) => each === moduleOf(name))
  if (module !== undefined) {
    const message = `the method ${shown} is not available: the module ${module} is disabled`
    return new DevchainError('METHOD_NOT_FOUND', message)
  }
  const proposal = nearest(name, [...methods.keys()])
  const hint = proposal === undefined ? 'rpc.discover lists all' : `did you mean ${proposal}?`
  return new DevchainError('METHOD_NOT_FOUND', `the method ${shown} does not exist: ${hint}`)
}
