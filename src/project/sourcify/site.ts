// The site below /sourcify: a repository of verified contracts, and both versions of Sourcify's server API.
import { checksumAddress } from '../../core/crypto/crypto.ts'
import { attempt, DevchainError, invalidParams, printValue } from '../../core/errors.ts'
import { type Address, parseAddress } from '../../core/hex.ts'
import { LruCache } from '../../core/lrucache.ts'
import type { Chain } from '../../node/chain/chain.ts'
import type { SiteReply, SiteRequest } from '../../rpc/site.ts'
import type { Artifacts } from '../artifacts.ts'
import { type JsonObject, member } from '../reading/formats.ts'
import {
  type CreationInfo,
  noMatch,
  Repository,
  type RpcCaller,
  type Unverified,
  type Verified,
} from './repository.ts'
import {
  EMPTY_SUBMISSION,
  type Posted,
  readFiles,
  readFormOrJson,
  readMetadata,
  readStandardJson,
} from './requests.ts'
import { type Submission, verify } from './submission.ts'
import { FIELDS, filesOf, matchView, sourceAt } from './views.ts'

const MOST_ADDRESSES = 100

const MOST_JOBS = 1_000

const LONGEST_TARGET = 10_000

/** The status and Sourcify's code for what handlers refuse. */
const UNSUPPORTED_CHAIN = [404, 'unsupported_chain'] as const
const INVALID_PARAMETER = [400, 'invalid_parameter'] as const

interface Visit extends Posted {
  /** Path parts matched by the route's pattern. */
  readonly parts: readonly string[]
  readonly query: URLSearchParams
}

type Handler = (visit: Visit) => SiteReply | Promise<SiteReply>

type Route = readonly [method: SiteRequest['method'], path: RegExp, handle: Handler]

/** Prefix of server, repository and forge paths; forge adds `v2` to a URL without its last `/`. */
const BEGINNING = /^\/sourcify(?:\/+(?:server\/+|repository\/+)?|(?=v2\/))/

export class SourcifySite {
  readonly #chain: Chain
  readonly #repository: Repository
  /** For polling clients: each job is done before its id is returned. */
  readonly #jobs = new LruCache<string, JsonObject>(MOST_JOBS)
  #jobCount = 0
  readonly #routes: readonly Route[] = [
    ['GET', /^contracts\/(full|partial)_match\/(\w+)\/(\w+)\/(.+)$/, (visit) => this.#file(visit)],
    ['GET', /^files\/(tree\/)?(any\/)?(\w+)\/(\w+)$/, (visit) => this.#files(visit)],
    ['GET', /^check-?by-?addresses$/i, (visit) => this.#check(visit, false)],
    ['GET', /^check-?all-?by-?addresses$/i, (visit) => this.#check(visit, true)],
    ['GET', /^chains$/, () => this.#chains()],
    ['GET', /^health$/, () => ({ status: 200, contentType: 'text/plain', body: 'Alive' })],
    ['GET', /^v2\/contract\/all-chains\/(\w+)$/, (visit) => this.#everywhere(visit)],
    ['GET', /^v2\/contract\/(\w+)\/(\w+)$/, (visit) => this.#contract(visit)],
    ['GET', /^v2\/verify\/([\w-]+)$/, (visit) => this.#job(visit)],
    ['POST', /^v2\/verify\/metadata\/(\w+)\/(\w+)$/, (visit) => this.#submit(visit, readMetadata)],
    [
      'POST',
      /^v2\/verify\/similarity\/(\w+)\/(\w+)$/,
      (visit) => this.#submit(visit, () => EMPTY_SUBMISSION),
    ],
    ['POST', /^v2\/verify\/(\w+)\/(\w+)$/, (visit) => this.#submit(visit, readStandardJson)],
    ['POST', /^verify$/, (visit) => this.#verifyFirst(visit)],
  ]

  /** @param rpc sends RPC requests to the chain */
  constructor(chain: Chain, artifacts: Artifacts, rpc: RpcCaller) {
    this.#chain = chain
    this.#repository = new Repository(artifacts, rpc)
  }

  async answer({ method, target, contentType, body }: SiteRequest): Promise<SiteReply> {
    const [path = '', search = ''] = target.split('?', 2)
    // undefined for invalid escapes
    const place = attempt(() => decodeURIComponent(path.replace(BEGINNING, '')))
    if (target.length > LONGEST_TARGET || place === undefined) {
      return problem(...INVALID_PARAMETER, `expected a path, got ${printValue(path)}`)
    }
    const query = new URLSearchParams(search)
    for (const [routed, pattern, handle] of this.#routes) {
      const match = routed === method ? pattern.exec(place) : null
      if (match === null) continue
      try {
        return await handle({ parts: match.slice(1), query, contentType, body })
      } catch (error) {
        if (!(error instanceof DevchainError)) throw error
        const { word, message } = error
        const [status, code] = word === 'NOT_FOUND' ? UNSUPPORTED_CHAIN : INVALID_PARAMETER
        return problem(status, code, message)
      }
    }
    return problem(404, 'route_not_found', `${method} ${path} is not supported`)
  }

  get #chainId(): string {
    return String(this.#chain.state.config.chainId)
  }

  get #now(): number {
    return this.#chain.environment.now()
  }

  /** The matches of a verified contract, then some fields. */
  async #view(found: Verified, fieldsOf?: FieldsView): Promise<JsonObject> {
    const creation = await this.#repository.creationOf(found)
    const { address, runtimeMatch } = found
    const matches = matchView(this.#chainId, address, runtimeMatch, creation.creationMatch)
    return { ...matches, verifiedAt: timeOf(this.#now), ...fieldsOf?.(found, creation) }
  }

  /** @throws {DevchainError} `NOT_FOUND` for an address of another chain, `INVALID_PARAMS` for an invalid one */
  #addressHere(chainId: string, name: string): Address {
    const address = parseAddress(name)
    if (chainId === this.#chainId) return address
    const message = `The chain with chainId ${chainId} is not supported: the chain here is ${this.#chainId}`
    throw new DevchainError('NOT_FOUND', message)
  }

  async #find(chainId: string, address: Address): Promise<Verified | Unverified> {
    if (chainId === this.#chainId) return await this.#repository.find(address)
    return noMatch(`the chain here is ${this.#chainId}, not ${chainId}`)
  }

  async #file({ parts: [quality, chainId = '', name = '', file = ''] }: Visit) {
    const found = await this.#find(chainId, parseAddress(name))
    if ('message' in found) return missing(found.message)
    const match = qualityOf(found)
    if (match !== quality) return missing(`${name} is a ${match} match`)
    if (file === 'metadata.json') return json(200, found.compiled.metadata)
    const body = file.startsWith('sources/')
      ? sourceAt(found, file.slice('sources/'.length))
      : (await this.#filesOf(found)).find((each) => each.name === file)?.content
    if (body === undefined) return missing(`${name} has no ${file}`)
    return { status: 200, contentType: 'text/plain; charset=utf-8', body }
  }

  async #filesOf(found: Verified): Promise<ReturnType<typeof filesOf>> {
    return filesOf(found, await this.#repository.creationOf(found))
  }

  /** A contract's files, or their URLs (`tree`); partial matches only with `any`. */
  async #files({ parts: [tree, both, chainId = '', name = ''] }: Visit): Promise<SiteReply> {
    const found = await this.#find(chainId, parseAddress(name))
    const notFound = (message: string): SiteReply =>
      json(404, { error: 'Files have not been found!', message })
    if ('message' in found) return notFound(found.message)
    const status = qualityOf(found)
    if (both === undefined && status === 'partial') return notFound(`${name} is a partial match`)
    const folder = `/contracts/${status}_match/${chainId}/${checksumAddress(found.address)}`
    const files = (await this.#filesOf(found)).map(({ name: place, content }) =>
      tree === undefined
        ? { name: place.split('/').at(-1), path: `${folder}/${place}`, content }
        : `/sourcify${folder}/${place}`,
    )
    return json(200, both === undefined ? files : { status, files })
  }

  /** Version 1: checks several addresses. */
  async #check({ query }: Visit, isDetailed: boolean): Promise<SiteReply> {
    const names = listIn(query, 'addresses')
    const chainId = this.#chainId
    const isHere = listIn(query, 'chainIds').includes(chainId)
    const answers: JsonObject[] = []
    for (const address of names) {
      const found = await this.#repository.find(parseAddress(address))
      const status = isHere && !('message' in found) ? statusOf(found) : 'false'
      if (status === 'false' || (status === 'partial' && !isDetailed)) {
        answers.push({ address, status: 'false' })
      } else if (isDetailed) answers.push({ address, chainIds: [{ chainId, status }] })
      else answers.push({ address, status, chainIds: [chainId] })
    }
    return json(200, answers)
  }

  #chains(): SiteReply {
    const chainId = Number(this.#chainId)
    const name = 'devchain'
    return json(200, [
      { name, title: name, chainId, rpc: [], supported: true, etherscanAPI: false },
    ])
  }

  async #everywhere({ parts: [name = ''] }: Visit): Promise<SiteReply> {
    const found = await this.#repository.find(parseAddress(name))
    if ('message' in found) return json(404, { results: [] })
    return json(200, { results: [await this.#view(found)] })
  }

  async #contract({ parts: [chainId = '', name = ''], query }: Visit): Promise<SiteReply> {
    const fieldsOf = fieldsAsked(query)
    const address = this.#addressHere(chainId, name)
    const found = await this.#repository.find(address)
    if ('message' in found) {
      return json(404, { ...matchView(chainId, address), message: found.message })
    }
    return json(200, await this.#view(found, fieldsOf))
  }

  #job({ parts: [id = ''] }: Visit): SiteReply {
    const job = this.#jobs.get(id)
    if (job !== undefined) return json(200, job)
    return problem(404, 'job_not_found', `No verification job found for id ${id}`)
  }

  /** Version 2: returns a job id to poll. */
  async #submit(visit: Visit, read: (posted: Posted) => Submission): Promise<SiteReply> {
    const [chainId = '', name = ''] = visit.parts
    const address = this.#addressHere(chainId, name)
    const startedAt = this.#now
    const found = await verify(this.#repository, address, read(visit))
    this.#jobCount += 1
    // as long as clients expect, and the same in each run
    const verificationId = `00000000-0000-4000-8000-${this.#jobCount.toString(16).padStart(12, '0')}`
    const outcome =
      'message' in found
        ? {
            contract: matchView(chainId, address),
            error: { customCode: found.code, message: found.message, errorId: verificationId },
          }
        : { contract: await this.#view(found) }
    this.#jobs.set(verificationId, {
      isJobCompleted: true,
      verificationId,
      jobStartTime: timeOf(startedAt),
      jobFinishTime: timeOf(this.#now),
      ...outcome,
    })
    return json(202, { verificationId })
  }

  /** Version 1: replies with the result. */
  async #verifyFirst(visit: Visit): Promise<SiteReply> {
    const submission = await readFormOrJson(visit)
    const chainId = String(submission.chain)
    const address = this.#addressHere(chainId, String(submission.address))
    const found = await verify(this.#repository, address, readFiles(submission))
    if ('message' in found) return json(500, { error: found.message })
    const status = statusOf(found)
    return json(200, { result: [{ address: checksumAddress(found.address), chainId, status }] })
  }
}

type FieldsView = (found: Verified, creation: CreationInfo) => JsonObject

/** Selects fields, or parts of them (`compilation.name`). @throws {DevchainError} naming an unknown field */
function fieldsAsked(query: URLSearchParams): FieldsView {
  const [fields, omit] = [query.get('fields'), query.get('omit')]
  if (fields !== null && omit !== null) throw invalidParams('expected fields or omit, not both')
  const named = (fields ?? omit ?? '').split(',').filter((each) => each !== '')
  const wrong = named.find(
    (each) => each !== 'all' && ![...NAMES, ...ALWAYS].includes(fieldOf(each)),
  )
  if (wrong !== undefined) throw invalidParams(`there is no field ${printValue(wrong)}`)
  const isAll = named.includes('all')
  const wanted =
    omit === null && !isAll ? named : NAMES.filter((name) => isAll || !named.includes(name))
  return (found, creation) => {
    const view: Record<string, unknown> = {}
    for (const name of NAMES.filter((each) => wanted.some((path) => fieldOf(path) === each))) {
      const whole = FIELDS[name]!(found, creation)
      const parts = wanted.filter((each) => each.startsWith(`${name}.`))
      const inner = parts.map((each) => each.slice(name.length + 1))
      view[name] = wanted.includes(name)
        ? whole
        : Object.fromEntries(inner.map((each) => [each, member(whole, each) ?? null]))
    }
    return view
  }
}

const NAMES = Object.keys(FIELDS)

/** Fields of every reply in version 1 and here. */
const ALWAYS = ['match', 'creationMatch', 'runtimeMatch', 'chainId', 'address', 'verifiedAt']

function fieldOf(path: string): string {
  return path.split('.')[0]!
}

function listIn(query: URLSearchParams, name: string): readonly string[] {
  const list = (query.get(name) ?? '').split(',').filter((each) => each !== '')
  if (list.length === 0) throw invalidParams(`${name}: expected one at least`)
  if (list.length > MOST_ADDRESSES) {
    throw invalidParams(`${name}: expected at most ${MOST_ADDRESSES}, got ${list.length}`)
  }
  return list
}

function json(status: number, value: unknown): SiteReply {
  return { status, contentType: 'application/json', body: JSON.stringify(value) }
}

/** The repository's word for the match. */
function qualityOf({ runtimeMatch }: Verified): 'full' | 'partial' {
  return runtimeMatch === 'exact_match' ? 'full' : 'partial'
}

/** Version 1's word for the match. */
function statusOf(found: Verified): 'perfect' | 'partial' {
  return qualityOf(found) === 'full' ? 'perfect' : 'partial'
}

function timeOf(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
}

/** "Not found" in the repository and version 1. */
function missing(message: string): SiteReply {
  return json(404, { error: message })
}

function problem(status: number, customCode: string, message: string): SiteReply {
  return json(status, { customCode, message, errorId: customCode, error: message })
}
