import { aBatch, aBatchItem } from 'agent-workspace-emulator'
import { onTestFinished } from 'vitest'
import { type InternalOptions, openEmulator, type RunningEmulator } from '../../src/emulator/emulator.ts'
import { command, type Outcome } from './in-process.ts'

/** The instant at which the sandboxes of these tests start, with a frozen clock. */
export const START = '2026-03-01T12:00:00.000Z'

/** An emulator with an empty sandbox for one test, and the command line as its client. */
export interface Running {
  readonly emulator: RunningEmulator
  readonly url: string
  /** Sends a GET with a key of the demo data, or a POST if there is a body. */
  api(path: string, json?: object, headers?: Readonly<Record<string, string>>): Promise<Response>
  /** Runs a command against it. */
  run(...argv: readonly string[]): Promise<Outcome>
  /** Runs a command with `--json` and reads what it printed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into data of every shape; the assertions are the types.
  data(...argv: readonly string[]): Promise<any>
}

/** Creates a batch of the demo data. @returns its id */
export async function createBatch({ api }: Running, ...custom_ids: readonly string[]): Promise<string> {
  const items = custom_ids.map((custom_id) => aBatchItem({ custom_id }))
  return ((await (await api('/batch-predictions', aBatch({ items }))).json()) as { readonly id: string }).id
}

export async function running(options: InternalOptions = {}): Promise<Running> {
  const opened = await openRunning(options)
  onTestFinished(() => opened.emulator.close())
  return opened
}

/** As {@link running}, for several tests; the caller closes it. */
export async function openRunning(options: InternalOptions = {}): Promise<Running> {
  const usual = { port: 0, ephemeral: true, fixtures: {}, clock: START, rate: 0 }
  const emulator = await openEmulator({ ...usual, ...options })
  const url = `http://127.0.0.1:${emulator.port}`
  const api: Running['api'] = (path, json, given = {}) => {
    const headers = { authorization: 'Bearer live_demo_owner', 'content-type': 'application/json', ...given }
    const sent = json === undefined ? {} : { method: 'POST', body: JSON.stringify(json) }
    return fetch(`${url}/v1${path}`, { headers, ...sent })
  }
  const run = (...argv: readonly string[]) => command([...argv, '--url', url])
  const data: Running['data'] = async (...argv) => {
    const { code, out, err } = await run(...argv, '--json')
    if (code !== 0) throw new Error(err)
    return JSON.parse(out)
  }
  return { emulator, url, api, run, data }
}

/** The lines of a table, with a bar between cells. */
export function cells(out: string): string[] {
  return out.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | '))
}
