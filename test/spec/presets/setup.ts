import { expect } from 'vitest'
import type { JsonObject } from '../../../src/core/json.ts'
import { KEYS } from '../../support/base-state.ts'
import { aBatch, batchEmulator } from '../../support/batches.ts'
import { nextHeld } from '../../support/faults.ts'
import { bearer, type Client, overSocket, requestBytes } from '../../support/wire-client.ts'
import { parse } from './views.ts'

/** How a test observes one preset, and the expected result, which is the same for every client. */
export interface PresetCase {
  readonly preset: string
  readonly run: (subject: Subject) => Promise<unknown>
  readonly expected: unknown
}

/** A case whose preset is armed before anything is sent. */
export function armed(preset: string, run: PresetCase['run'], expected: unknown): PresetCase {
  return { preset, run: (subject) => subject.arm(preset).then(() => run(subject)), expected }
}

export const USERS = '/organization/teamspaces/ts-a/users?limit=2'

const data_views = [1, 2, 3, 4].map((n) => ({
  id: `view-${n}`,
  dataset_name: `set_${n}`,
  knowledge_id: 'knowledge-1',
  service_account_id: 'account-1',
  created_at: `2026-01-0${n}T00:00:00.000Z`,
  _emulator: { teamspace_id: 'ts-a' },
}))

export interface Sent {
  readonly json?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Whether the client gives up when the emulator holds the response. */
  readonly untilHeld?: boolean
}

export type Subject = Awaited<ReturnType<typeof subjectOf>>

/** An emulator in which a test observes a preset through a client. All requests have the key KU. */
export async function subjectOf(client: Client) {
  const { emulator, sandbox, control, baseUrl } = await batchEmulator({}, { collections: { data_views } })
  const { port } = emulator
  const sent = ({ json, headers }: Sent) => ({
    headers: { ...bearer(KEYS.KU), ...headers },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  })
  const call = (method: string, path: string, more: Sent = {}) =>
    client(`${baseUrl}${path}`, {
      ...{ method, ...sent(more) },
      ...(more.untilHeld ? { givesUp: nextHeld(sandbox) } : {}),
    })
  return {
    ...{ sandbox, port, baseUrl, control, call },
    get: (path: string) => call('GET', path),
    post: (path: string, json: unknown) => call('POST', path, { json }),
    /** The parsed body of a GET. */
    read: async (path: string) => parse((await call('GET', path)).body),
    /** Arms the preset, with fields that override its own. */
    arm: async (preset: string, overrides: JsonObject = {}) => {
      const { status, text } = await control('POST', '/faults', { preset, ...overrides })
      expect(status, text).toBe(201)
    },
    /** Removes every rule. */
    clear: () => control('DELETE', '/faults'),
    /** A request over a new connection, as bytes. */
    raw: (method: string, path: string, more: Sent = {}) => {
      const { headers, ...body } = sent(more)
      const host = { Host: `127.0.0.1:${port}` }
      const bytes = requestBytes({ method, path: `/v1${path}`, headers: { ...host, ...headers }, ...body })
      return overSocket(port, bytes, more.untilHeld ? nextHeld(sandbox) : undefined)
    },
    /** Advances the clock, which also waits for deliveries in flight. */
    advance: (by: string) => control('POST', '/clock/advance', { by }),
    /** Creates a batch and returns its id. */
    batch: async (changes?: Parameters<typeof aBatch>[0]): Promise<string> =>
      parse((await call('POST', '/batch-predictions', { json: aBatch(changes) })).body).id,
  }
}
