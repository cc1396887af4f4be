// Pages of chains besides JSON-RPC: making one by POST, and the endpoints of prool 0.2 (see the page "Tests side by side").
import { DevchainError, invalidParams, printValue } from '../core/errors.ts'
import { isObject, jsonIn } from '../core/objects.ts'
import type { ChainOrder } from '../methods/common/chains.ts'
import { errorObjectOf } from '../rpc/errors.ts'
import type { Site, SiteReply, SiteRequest } from '../rpc/site.ts'
import { pathOf } from '../server/answer.ts'
import { textOf } from '../server/replies.ts'
import { healthOf } from './chainfacts.ts'
import type { Chains } from './chains.ts'
import { Leases } from './leases.ts'
import type { ChainSlot } from './slot.ts'

/** Such requests have no origin that `--allow-origin` could refuse. */
const OTHER_PAGE = 'pages of other sites may not control chains by links or images'

const JSON_TYPE = 'application/json'

const METHODS = { 'access-control-allow-methods': 'GET, POST, PUT, DELETE, OPTIONS' } as const

interface SitesOptions {
  readonly chains: Chains
  readonly onBug: (error: unknown) => void
}

/** In the order in which they are asked. */
export function chainSites(options: SitesOptions): readonly Site[] {
  const leases = new Leases(options.chains)
  const { chains } = options
  return [
    lifecycleSite(options),
    leaseSite(leases, options),
    creationSite(options),
    chainHealthSite(chains),
  ]
}

/** `/7/restart` and its like, for numbers and names. */
function lifecycleSite({ chains, onBug }: SitesOptions): Site {
  const actions: Readonly<
    Record<string, (name: string, request: SiteRequest) => Promise<unknown>>
  > = {
    start: async (name, request) => {
      const order = orderIn(request.body)
      if (order === undefined) throw invalidParams('expected options as a JSON object, or no body')
      if (order.options !== undefined || order.from !== undefined) {
        await chains.create({ ...order, name })
      }
      const slot = chains.slotFor(`/${name}`)
      await slot.open()
      return descriptor(slot, request)
    },
    restart: async (name, request) => {
      const slot = chains.at(`/${name}`)
      await slot?.end('the chain was restarted')
      await slot?.open()
      return slot && descriptor(slot, request)
    },
    stop: async (name) => chains.at(`/${name}`)?.end('the chain was stopped'),
    destroy: async (name) => (chains.at(`/${name}`) === undefined ? undefined : chains.drop(name)),
    messages: async (name) => (await chains.at(`/${name}`)?.chain?.messages()) ?? [],
  }
  const form = new RegExp(`^/([\\w-]+)/(${Object.keys(actions).join('|')})$`)
  return {
    owns: ({ target }) => form.test(pathOf(target)),
    answer: answering(onBug, async (request) => {
      const [, name = '', action = ''] = form.exec(pathOf(request.target)) ?? []
      if (request.isFromOtherPage) return json(403, { message: OTHER_PAGE })
      return json(200, await actions[action]!(name, request))
    }),
  }
}

function leaseSite(leases: Leases, { onBug }: SitesOptions): Site {
  return {
    owns: ({ method, target }) =>
      pathOf(target) === '/healthcheck' ||
      (method === 'POST' && /^\/(acquire|release\/.+)$/.test(pathOf(target))),
    answer: answering(onBug, async (request) => {
      const path = pathOf(request.target)
      if (path === '/healthcheck') return json(200)
      if (path === '/acquire') {
        const lease = await leases.acquire(request)
        if (lease === undefined) return json(200)
        return json(200, { ...descriptor(lease.slot, request), token: lease.token })
      }
      return json((await leases.release(path.slice('/release/'.length))) ? 204 : 404)
    }),
  }
}

/** `POST /alice` with options makes that chain; a JSON-RPC request is refused, as there is no such chain yet. */
function creationSite({ chains, onBug }: SitesOptions): Site {
  return {
    owns: ({ method, target }) => method === 'POST' && chains.isFree(pathOf(target)),
    answer: answering(onBug, async ({ target, body }) => {
      const path = pathOf(target)
      const order = orderIn(body)
      if (order === undefined) {
        return { status: 404, contentType: JSON_TYPE, body: textOf(chains.unknown(path)) }
      }
      const info = await chains.create({ ...order, name: path.slice(1) })
      return json(201, { name: info.name, path, chainId: Number(info.chainId) })
    }),
  }
}

/** `GET /alice` describes the chain, as `GET /` does the default one. */
function chainHealthSite(chains: Chains): Site {
  return {
    owns: ({ method, target }) => method === 'GET' && chains.at(pathOf(target))?.isThere === true,
    answer: async ({ target }) => {
      const facts = await chains.at(pathOf(target))?.facts()
      return json(200, facts && healthOf(facts))
    },
  }
}

/** The options in a body, and the chain or snapshot to begin with; undefined for JSON-RPC and for no object. */
function orderIn(body: Uint8Array): Pick<ChainOrder, 'from' | 'options'> | undefined {
  const given = jsonIn(Buffer.from(body).toString() || '{}')
  if (!isObject(given) || 'jsonrpc' in given || 'method' in given) return undefined
  const { from, ...options } = given
  if (from !== undefined && typeof from !== 'string') {
    throw invalidParams(`from: expected a chain or a named snapshot; got ${printValue(from)}`)
  }
  return { from, options: Object.keys(options).length === 0 ? undefined : options }
}

/** Prool's descriptor of an instance, with the chain's own URL. */
function descriptor({ path }: ChainSlot, { host: authority }: SiteRequest): object {
  const url = new URL(`http://${authority || 'localhost'}${path}`)
  const host = url.hostname
  const port = Number(url.port || 80)
  return { endpoints: { default: { host, port, protocol: 'http' } }, host, port, url: url.href }
}

function json(status: number, value?: unknown): SiteReply {
  const body = value === undefined ? '' : JSON.stringify(value)
  return { status, contentType: JSON_TYPE, body, headers: METHODS }
}

/** As prool: 400 with the message of what went wrong, but 503 for what is over a limit. */
function answering(
  onBug: (error: unknown) => void,
  answer: (request: SiteRequest) => Promise<SiteReply>,
): Site['answer'] {
  return async (request) => {
    try {
      return await answer(request)
    } catch (error) {
      const isOver = error instanceof DevchainError && error.word === 'LIMIT_EXCEEDED'
      return json(isOver ? 503 : 400, { message: errorObjectOf(error, onBug).message })
    }
  }
}
