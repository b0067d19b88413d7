import { text } from 'node:stream/consumers'
import type { Sandbox } from '../../src/core/sandboxes/sandbox.ts'
import type { RunningEmulator } from '../../src/emulator/emulator.ts'
import { KEYS } from './base-state.ts'
import { exchange } from './transport.ts'

/** The parts of a request other than method and target. */
export interface Said {
  /** A list is sent as several header lines. */
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly json?: unknown
  /** Sent unchanged, instead of JSON. */
  readonly raw?: string | Uint8Array | undefined
  /** The whole value of Authorization; default: the key KU. */
  readonly authorization?: string | undefined
}

/** A response with its whole body. */
export interface Sent {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape; the assertions are the types.
  readonly body: any
}

/** Sends a request on a new connection: unlike fetch, it accepts any Host, any target and repeated headers. */
export async function send(
  { emulator }: { readonly emulator: Pick<RunningEmulator, 'port'> },
  method: string,
  path: string,
  said: Said = {},
): Promise<Sent> {
  const { headers = {}, json, raw } = said
  const authorization = 'authorization' in said ? said.authorization : `Bearer ${KEYS.KU}`
  const payload = raw ?? (json === undefined ? undefined : JSON.stringify(json))
  const type = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(payload ?? '')),
  }
  const sent = {
    ...(payload === undefined ? {} : type),
    ...(authorization === undefined ? {} : { authorization }),
    ...headers,
  }
  const to = { host: '127.0.0.1', port: emulator.port, method, path, headers: sent, agent: false } as const
  const response = await exchange(to, payload)
  const { statusCode: status = 0 } = response
  const contentType = response.headers['content-type'] ?? ''
  // A stream of events has no end.
  if (contentType === 'text/event-stream') {
    response.destroy()
    return { status, headers: response.headers, text: '', body: undefined }
  }
  const received = await text(response)
  const isJson = /^application\/(problem\+)?json/.test(contentType) && received !== ''
  const body = isJson ? JSON.parse(received) : undefined
  return { status, headers: response.headers, text: received, body }
}

/** The names of all sandboxes except the default one. */
export function made({ emulator }: { readonly emulator: RunningEmulator }): string[] {
  return emulator.sandboxes
    .list()
    .flatMap(({ sandbox }) => (sandbox.name === 'default' ? [] : [sandbox.name]))
}

/** The sandbox with this name; throws if it is missing. */
export function sandboxOf({ emulator }: { readonly emulator: RunningEmulator }, name: string): Sandbox {
  const sandbox = emulator.sandboxes.get(name)
  if (sandbox === undefined) throw new Error(`there is no sandbox ${name}`)
  return sandbox
}

/** The last log entry of a sandbox. */
export const lastEntry = (sandbox: Sandbox) => sandbox.log.entries().at(-1)
