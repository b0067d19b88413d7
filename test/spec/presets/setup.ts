import { onTestFinished } from 'vitest'
import type { JsonObject } from '../../../src/core/json.ts'
import type { Sandbox } from '../../../src/core/sandboxes/sandbox.ts'
import { openEmulator, type RunningEmulator } from '../../../src/emulator/emulator.ts'
import { baseCollections, KEYS, START } from '../../support/base-state.ts'
import { aBatch } from '../../support/batches.ts'
import { controlOf } from '../../support/control.ts'
import { nextHeld } from '../../support/faults.ts'
import { bearer, type Client, type ClientView, overSocket, requestBytes } from '../../support/wire-client.ts'
import { parse } from './views.ts'

type Changes = Parameters<typeof aBatch>[0]

/** A separate sandbox in which a test observes a preset through one client. */
export type Subject = ReturnType<typeof subjectIn>

export interface StageCall {
  readonly json?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Whether the client gives up when the emulator holds the response. */
  readonly untilHeld?: boolean
}

const files = [{ id: 'file-pdf', teamspace_id: 'ts-a', name: 'a.pdf', kind: 'pdf', pages: 10 }]
const views = [1, 2, 3, 4].map((n) => ({
  id: `view-${n}`,
  dataset_name: `set_${n}`,
  knowledge_id: 'knowledge-1',
  service_account_id: 'account-1',
  created_at: `2026-01-0${n}T00:00:00.000Z`,
  _emulator: { teamspace_id: 'ts-a' },
}))

/** An emulator with a sandbox for each subject, closed at the end of the test. */
export async function setup(): Promise<{ subject(client: Client): Promise<Subject> }> {
  const collections = { ...baseCollections, files, data_views: views }
  const emulator = await openEmulator({
    port: 0,
    clock: START,
    rate: 0,
    ephemeral: true,
    fixtures: { collections } as unknown as JsonObject,
    settings: { 'batch.names.items': 'items' },
  })
  onTestFinished(() => emulator.close())
  let number = 0
  return {
    subject: async (client) => {
      number += 1
      return subjectIn(emulator, await emulator.sandboxes.open(`subject-${number}`), client)
    },
  }
}

function subjectIn(emulator: RunningEmulator, sandbox: Sandbox, client: Client) {
  const { port } = emulator
  const prefix = `/@${sandbox.name}/v1`
  const control = controlOf(emulator, sandbox.name)
  const sent = ({ json, headers }: StageCall) => ({
    headers: { ...bearer(KEYS.KU), ...headers },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  })
  /** A request with the key KU. */
  const call = (method: string, path: string, more: StageCall = {}): Promise<ClientView> =>
    client(`http://127.0.0.1:${port}${prefix}${path}`, {
      ...{ method, ...sent(more) },
      ...(more.untilHeld ? { givesUp: nextHeld(sandbox) } : {}),
    })
  const get = (path: string) => call('GET', path)
  const post = (path: string, json: unknown) => call('POST', path, { json })
  /** Creates a batch and returns the response body. */
  const created = async (changes?: Changes): Promise<{ id: string; status: string }> =>
    parse((await post('/batch-predictions', aBatch(changes))).body)
  const batch = async (changes?: Changes) => (await created(changes)).id
  return {
    sandbox,
    port,
    /** Arms the preset, with fields that override its own. */
    arm: async (preset: string, overrides: JsonObject = {}) => {
      const { status, body } = await control('POST', '/faults', { preset, ...overrides })
      if (status >= 300) throw new Error(JSON.stringify(body))
    },
    /** Removes every rule. */
    clear: async () => void (await control('DELETE', '/faults')),
    call,
    get,
    post,
    /** The parsed body of a GET. */
    read: async (path: string) => parse((await get(path)).body),
    /** A request over a new connection, as bytes. */
    raw: (method: string, path: string, more: StageCall = {}) => {
      const { headers, ...body } = sent(more)
      const host = { Host: `127.0.0.1:${port}` }
      const bytes = requestBytes({ method, path: prefix + path, headers: { ...host, ...headers }, ...body })
      return overSocket(port, bytes, more.untilHeld ? nextHeld(sandbox) : undefined)
    },
    control,
    /** Advances the clock, which also waits for deliveries in flight. */
    advance: (by: string) => control('POST', '/clock/advance', { by }),
    created,
    batch,
    /** Creates a batch that is completed. */
    finished: async (changes?: Changes) => {
      const id = await batch(changes)
      await control('POST', `/batches/${id}/complete`)
      return id
    },
  }
}
