import {
  type ClientRequest,
  Agent as PlainAgent,
  request as plainRequest,
  type RequestOptions,
} from 'node:http'
import { Agent, request as tlsRequest } from 'node:https'
import type { Duplex } from 'node:stream'
import { connect } from 'node:tls'
import zlib from 'node:zlib'
import { isLoopback } from '../../server/origins.ts'
import { decoded } from '../../server/route-table.ts'
import { type Environment, UsageError } from '../../terminal/options.ts'
import type { HarEntry } from './har.ts'

/** The most bytes of a body that are kept. */
export const MAX_KEPT = 10_485_760

/** The service that a command talks to. */
export interface LiveService {
  readonly origin: string
  /** That of its base URL, without a slash at the end. */
  readonly path: string
  readonly key: string
  /** Through which it is reached; undefined: directly. */
  readonly proxy: URL | undefined
}

/** The service that the options name. Throws {@link UsageError}. @param keyEnv the variable with its key */
export function serviceOf(against: string, keyEnv: string | undefined, env: Environment): LiveService {
  const { origin, hostname, protocol, pathname } = new URL(against)
  const key = env[keyEnv ?? ''] ?? ''
  if (protocol !== 'https:' && !isLoopback(hostname))
    throw new UsageError([`--against: ${origin} is not encrypted. Give an address with https.`])
  if (keyEnv === undefined)
    throw new UsageError(['--key-env is missing. Give the name of the environment variable with the key.'])
  if (key === '')
    throw new UsageError([`--key-env: the environment has no variable ${keyEnv}. Set it to the key.`])
  return { origin, path: pathname.replace(/\/+$/, ''), key, proxy: proxyOf(new URL(against), env) }
}

// The address may have a password, so that no message repeats it. As for curl, its scheme may be left out.
function proxyOf({ protocol, hostname }: URL, env: Environment): URL | undefined {
  const given = env.HTTPS_PROXY || env.https_proxy
  const isDirect = (env.NO_PROXY || env.no_proxy || '')
    .split(',')
    .map((each) => each.trim().replace(/^\*?\./, ''))
    .some((each) => each === '*' || each === hostname || (each && hostname.endsWith(`.${each}`)))
  if (protocol !== 'https:' || !given || isDirect) return undefined
  const address = given.includes('://') ? given : `http://${given}`
  if (URL.canParse(address) && /^https?:\/\//i.test(address)) return new URL(address)
  throw new UsageError([
    'HTTPS_PROXY is not the address of a proxy. Write http://host:port, unset it, or name the service in NO_PROXY.',
  ])
}

/** Begins a request to the service, through the proxy of the environment. Redirects are not followed. */
export function requestTo(
  { origin, path, proxy }: LiveService,
  target: string,
  options: RequestOptions,
): ClientRequest {
  const url = new URL(origin + path + target)
  // From Node 24 on, the usual agent may take the proxy of the environment, which cannot reach this machine.
  if (url.protocol !== 'https:') return plainRequest(url, { ...options, agent: new PlainAgent() })
  return tlsRequest(url, { ...options, agent: proxy ? new TunnelAgent(proxy) : new Agent() })
}

/** Connects to a TLS server through a proxy. */
class TunnelAgent extends Agent {
  readonly #proxy: URL

  constructor(proxy: URL) {
    super()
    this.#proxy = proxy
  }

  override createConnection(
    options: RequestOptions,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const { hostname, port, protocol, username, password } = this.#proxy
    const path = `${options.host}:${options.port}`
    const words = [username, password].map((each) => decoded(each) ?? each)
    const login = Buffer.from(words.join(':')).toString('base64')
    const headers = { host: path, ...(username && { 'proxy-authorization': `Basic ${login}` }) }
    const fail = (error: Error) => callback?.(error, undefined as unknown as Duplex)
    const send = protocol === 'https:' ? tlsRequest : plainRequest
    send({
      hostname,
      port: port || (protocol === 'https:' ? 443 : 80),
      method: 'CONNECT',
      path,
      headers,
      agent: false,
    })
      .once('connect', ({ statusCode }, socket) => {
        if (statusCode !== 200) fail(new Error(`the proxy ${hostname} answered ${statusCode}`))
        else callback?.(null, connect({ socket, servername: options.host ?? '' }))
      })
      .once('error', fail)
      .end()
  }
}

type Decode = (bytes: Buffer, options: { maxOutputLength: number }) => Buffer

// Node has zstd since version 22.15.
const DECODERS: Readonly<Record<string, Decode | undefined>> = {
  gzip: zlib.gunzipSync,
  br: zlib.brotliDecompressSync,
  deflate: zlib.inflateSync,
  zstd: (zlib as unknown as { zstdDecompressSync?: Decode }).zstdDecompressSync,
  identity: (bytes) => bytes,
}

/** The text of a body, as a HAR file has it; without one when it cannot be decoded, or is longer than {@link MAX_KEPT}. */
export function harContent(
  bytes: Buffer | undefined,
  encoding = 'identity',
  mimeType = '',
): HarEntry['response']['content'] {
  try {
    let plain = bytes
    for (const each of encoding.split(',').reverse()) {
      const decode = DECODERS[each.trim().toLowerCase()]
      plain = plain?.length === 0 ? plain : plain && decode?.(plain, { maxOutputLength: MAX_KEPT })
    }
    return plain === undefined
      ? { size: -1, mimeType }
      : { size: plain.length, mimeType, text: plain.toString() }
  } catch {
    return { size: -1, mimeType }
  }
}
