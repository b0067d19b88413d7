import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Finding, startEmulator } from 'agent-workspace-emulator'
import { CallError, CorrectClient, isGenuine } from './correct.ts'
import { aGalleryBatch, START, serviceOf } from './situation.ts'
import { VirtualTime } from './virtual-time.ts'

type Emulator = Awaited<ReturnType<typeof startEmulator>>

export interface CorrectRun {
  readonly seed: number
  readonly preset: string | undefined
}

const SIGNING = { secret: 'gallery', tolerance: 300_000 }
const SETTINGS = {
  'webhooks.signature': {
    header: 'X-Signature',
    secret: SIGNING.secret,
    prefix: 'sha256=',
    timestamp_header: 'X-Timestamp',
  },
  'webhooks.retry': ['10s', '1m'],
}

/** The preset whose requests wait for a test. */
export const HELD = 'gate'

/** The plan of many runs: every preset but {@link HELD} in turn, each with other seeds. */
export function plannedRuns(presets: readonly string[], count: number): CorrectRun[] {
  const situations = [undefined, ...presets.filter((name) => name !== HELD)]
  return Array.from({ length: count }, (_, n) => ({ seed: n + 1, preset: situations[n % situations.length] }))
}

/**
 * Uses the service through the correct client in a sandbox of its own, while one preset is armed. Every second run of a preset
 * limits a lasting fault to its first two requests, so that the client also meets the end of it.
 * @returns the findings about it
 */
export async function runCorrectly(
  emulator: Emulator,
  receiver: WebhookReceiver,
  { seed, preset }: CorrectRun,
): Promise<readonly Finding[]> {
  await using sandbox = await emulator.sandbox(undefined, { seed, clock: START, rate: 0, settings: SETTINGS })
  const now = async () => Date.parse((await sandbox.clock.show()).now)
  await sandbox.webhooks.create({ url: receiver.urlFor(sandbox.name, now) })
  if (preset !== undefined) {
    const { times } = await sandbox.faults.showPreset(preset)
    const isShort = times === null && seed % 2 === 0
    await sandbox.faults.preset(preset, isShort ? { times: 2 } : {})
  }
  const time = new VirtualTime(sandbox.clock, Date.parse(START))
  const client = new CorrectClient(serviceOf(sandbox, time, { seed }))
  const [ended] = await time.run([() => useService(client, seed)])
  if (ended?.status === 'rejected') throw ended.reason
  await sandbox.faults.clear()
  return (await sandbox.conduct()).findings
}

/** A program that uses every call of the client. A call may fail: the program then goes on without its result. */
async function useService(client: CorrectClient, seed: number): Promise<void> {
  await resultOf(() => client.listAll('teamspace-harbor'))
  await resultOf(() => client.listDataViews())
  await resultOf(() => client.createPage(`Roof plan ${seed}`))
  const batch = await resultOf(() => client.createBatch(aGalleryBatch(), `order-${seed}`))
  if (batch === undefined) return
  if (seed % 3 === 0) await resultOf(() => client.cancel(batch.id))
  const ended = await resultOf(() => client.wait(batch.id))
  if (ended !== undefined) await resultOf(() => client.results(batch.id))
}

async function resultOf<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof CallError) return undefined
    throw error
  }
}

/** Receives the webhooks of all runs, each at an address of its own. It handles each delivery once. */
export class WebhookReceiver implements AsyncDisposable {
  readonly #server: Server
  readonly #clocks = new Map<string, () => Promise<number>>()
  readonly #handled = new Set<string>()

  private constructor(server: Server) {
    this.#server = server
  }

  static async open(): Promise<WebhookReceiver> {
    const server = createServer()
    const receiver = new WebhookReceiver(server)
    server.on('request', async (request, response) => {
      response.statusCode = (await receiver.#accept(request)) ? 204 : 401
      response.end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return receiver
  }

  /** @param now the virtual time of the sender */
  urlFor(name: string, now: () => Promise<number>): string {
    this.#clocks.set(name, now)
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${name}`
  }

  get handled(): number {
    return this.#handled.size
  }

  async #accept(request: IncomingMessage): Promise<boolean> {
    const headers = request.headers as Record<string, string | undefined>
    const body = await text(request)
    // The run may be over, and its sandbox removed.
    const now = await this.#clocks
      .get((request.url ?? '').slice(1))?.()
      .catch(() => undefined)
    if (now === undefined || !isGenuine({ headers, body }, SIGNING, now)) return false
    this.#handled.add(`${request.url} ${headers['x-emulator-delivery']}`)
    return true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
