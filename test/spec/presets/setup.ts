import { onTestFinished } from 'vitest'
import type { JsonObject } from '../../../src/core/json.ts'
import type { Sandbox } from '../../../src/core/sandboxes/sandbox.ts'
import { openEmulator, type RunningEmulator } from '../../../src/emulator/emulator.ts'
import { baseCollections, KEYS, START } from '../../support/base-state.ts'
import { aBatch } from '../../support/batches.ts'
import { controlOf } from '../../support/control.ts'
import { nextHeld } from '../../support/faults.ts'
import {
  bearer,
  type Client,
  type ClientView,
  overSocket,
  requestBytes,
  type WireView,
} from '../../support/wire-client.ts'

/** A separate sandbox in which a test observes a preset through one client. */
export interface Subject {
  readonly sandbox: Sandbox
  readonly port: number
  /** Arms the preset, with fields that override its own. */
  arm(preset: string, overrides?: JsonObject): Promise<void>
  /** Removes every rule. */
  clear(): Promise<void>
  /** A request with the key KU. */
  call(method: string, path: string, more?: StageCall): Promise<ClientView>
  /** The same request over a new connection, as bytes. */
  raw(method: string, path: string, more?: StageCall): Promise<WireView>
  // biome-ignore lint/suspicious/noExplicitAny: control responses of every shape; the assertions are the types.
  control(method: string, path: string, json?: unknown): Promise<{ status: number; body: any }>
  /** Creates a batch in process, so that wire rules do not apply, and returns its id. */
  batch(changes?: Parameters<typeof aBatch>[0]): Promise<string>
  /** As {@link Subject.batch}, and completes the batch. */
  finished(changes?: Parameters<typeof aBatch>[0]): Promise<string>
}

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
export async function setup(): Promise<{
  subject(client: Client): Promise<Subject>
  emulator: RunningEmulator
}> {
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
    emulator,
    subject: async (client) => {
      number += 1
      return subjectIn(emulator, await emulator.sandboxes.open(`subject-${number}`), client)
    },
  }
}

function subjectIn(emulator: RunningEmulator, sandbox: Sandbox, client: Client): Subject {
  const prefix = `/@${sandbox.name}/v1`
  const origin = `http://127.0.0.1:${emulator.port}`
  const headers = bearer(KEYS.KU)
  const host = { Host: `127.0.0.1:${emulator.port}` }
  const control = controlOf(emulator, sandbox.name)
  const bodyOf = ({ json }: StageCall) => (json === undefined ? {} : { body: JSON.stringify(json) })
  const toBytes = (method: string, path: string, more: StageCall) =>
    requestBytes({
      method,
      path: prefix + path,
      headers: { ...host, ...headers, ...more.headers },
      ...bodyOf(more),
    })
  const subject: Subject = {
    sandbox,
    port: emulator.port,
    arm: async (preset, overrides = {}) => {
      const { status, body } = await control('POST', '/faults', { preset, ...overrides })
      if (status >= 300) throw new Error(JSON.stringify(body))
    },
    clear: async () => void (await control('DELETE', '/faults')),
    call: (method, path, more = {}) =>
      client(`${origin}${prefix}${path}`, {
        method,
        headers: { ...headers, ...more.headers },
        ...bodyOf(more),
        ...(more.untilHeld ? { givesUp: nextHeld(sandbox) } : {}),
      }),
    raw: (method, path, more = {}) =>
      overSocket(emulator.port, toBytes(method, path, more), more.untilHeld ? nextHeld(sandbox) : undefined),
    control,
    batch: async (changes) => {
      const { body } = await client(`${origin}${prefix}/batch-predictions`, {
        method: 'POST',
        headers,
        body: JSON.stringify(aBatch(changes)),
      })
      return JSON.parse(body ?? '{}').id as string
    },
    finished: async (changes) => {
      const id = await subject.batch(changes)
      await control('POST', `/batches/${id}/complete`)
      return id
    },
  }
  return subject
}
