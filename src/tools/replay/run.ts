import { packageVersion } from '../../adapters/package.ts'
import { bundleOf, type RecordedInput, type RecordingBundle } from '../../core/record/bundle.ts'
import { wholeState } from '../../core/record/start.ts'
import { loadDocument } from '../../core/sandboxes/change.ts'
import { DEFAULT_SANDBOX } from '../../core/sandboxes/name.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { scenarioCalls } from '../../core/scenarios/row.ts'
import type { HostTime } from '../../core/time/clock.ts'
import { formatInstant } from '../../core/time/instant.ts'
import { nextTurn } from '../../core/time/real.ts'
import { type Cancel, type Later, later } from '../../core/time/realtime.ts'
import { runBacklog } from '../../core/time/run-events.ts'
import type { AttemptResult } from '../../core/webhooks/delivery.ts'
import { openEmulator, type RunningEmulator } from '../../emulator/emulator.ts'
import type { InternalOptions } from '../../emulator/options.ts'
import { CommandFailed } from '../../terminal/command.ts'
import { differenceOf, titleOf } from './difference.ts'

interface RunOptions {
  /** The number of inputs to repeat. */
  readonly until: number
  /** The directory of the scenarios of the bundle. */
  readonly scenarios: string
  readonly listen: boolean
  /** A folder with the recorded files of endpoints, which are then run; absent: the recorded results are given. */
  readonly endpoints?: string
}

export type Replayed = Awaited<ReturnType<typeof replayBundle>>

/** Repeats a recording in this process, and compares every output. */
export async function replayBundle(bundle: RecordingBundle, options: RunOptions) {
  const run = new Replay(bundle)
  const inputs = bundle.inputs.slice(0, options.until)
  try {
    await run.open(options)
    for (const [index, input] of inputs.entries())
      await inTime(run.repeat(input), `Input ${index + 1} (${titleOf(input)})`)
    if (options.until >= bundle.inputs.length) await inTime(run.finish(), 'A call of the control interface')
  } catch (error) {
    await run.close()
    throw error
  }
  const { emulator, sandbox } = run
  const facts = { emulator: { ...bundle.emulator }, scenarios: async () => ({}), isReplay: true }
  const repeated = await bundleOf(sandbox, facts)
  /** `difference`: the first output that differs. */
  return { emulator, sandbox, difference: differenceOf(inputs, repeated.inputs) }
}

/** Real milliseconds for one input. */
const MAX_MS = 10_000

/** Rejects when the work does not end: it waits for something that is not in the recording. */
async function inTime(work: Promise<void>, what: string): Promise<void> {
  let cancel: Cancel = () => {}
  const late = new Promise<void>((_, reject) => {
    const message = `${what} does not end in the replay: it waits for something that is not in the recording. --until shows the sandbox before it.`
    cancel = later(MAX_MS, () => reject(new CommandFailed(message)))
  })
  await Promise.race([work, late]).finally(cancel)
}

/** Turns of the event loop without any progress after which the next wait of a fault ends. */
const IDLE_TURNS = 6

class Replay {
  readonly #bundle: RecordingBundle
  readonly #time: ReplayTime
  readonly #connections = new Map<string, Awaited<ReturnType<RunningEmulator['connect']>>>()
  readonly #sends = new Map<string, (result: AttemptResult) => void>()
  readonly #returns = new Map<string, () => void>()
  readonly #returned = new Set<string>()
  #calls: Promise<unknown>[] = []
  #isClosed = false
  emulator!: RunningEmulator // set by open
  sandbox!: Sandbox // set by open

  constructor(bundle: RecordingBundle) {
    this.#bundle = bundle
    this.#time = new ReplayTime(Date.parse(bundle.wall))
  }

  async open({ scenarios, listen, endpoints }: RunOptions): Promise<void> {
    const { version: _, origin, ...same } = this.#bundle.emulator
    const known = this.#bundle.inputs.map((each) => 'connection' in each && each.connection)
    const options: InternalOptions = {
      ...same,
      scenarios,
      endpoints: endpoints ?? [],
      ephemeral: true,
      fixtures: 'empty',
      ...(listen ? { port: 0 } : { listen: false }),
      hostTime: this.#time.host,
      replay: {
        origin,
        later: this.#time.later,
        send: (_message, { attempt }) => new Promise((resolve) => this.#sends.set(attempt, resolve)),
        // A call whose result was not applied is repeated.
        returned: (call) =>
          new Promise((resolve) => {
            if (this.#returned.has(call)) resolve()
            else this.#returns.set(call, resolve)
          }),
        actsOnConnection: (connection) => known.includes(connection),
        endpoints: endpoints === undefined ? this.#bundle.endpoints : undefined,
      },
    }
    this.emulator = await openEmulator(options)
    const { sandboxes } = this.emulator
    const { sandbox } = this.#bundle.state
    this.sandbox =
      sandbox === DEFAULT_SANDBOX ? sandboxes.default : await sandboxes.create(sandbox, {}, false)
    const state = await this.#state()
    loadDocument(this.sandbox, state)
    const { revision } = state as { readonly revision: number } // loadDocument has checked it
    // Recorded edits of the state name the revision that they change.
    this.sandbox.store.revision = revision
    this.sandbox.content.accept(revision)
    this.sandbox.recording.maxInputs = Number.POSITIVE_INFINITY
    this.sandbox.recording.begin()
    await whenQuiet(this.sandbox)
  }

  async #state(): Promise<unknown> {
    const { start, state, emulator } = this.#bundle
    if (start === undefined) return state
    const whole = wholeState(await this.emulator.build(start), start, state)
    if (whole !== undefined) return whole
    throw new CommandFailed(
      `The recording begins with the fixtures "${start.fixtures}" of version ${emulator.version}, and those of version ${packageVersion()} have other records. Repeat it with: npx agent-workspace-emulator@${emulator.version} replay`,
    )
  }

  async repeat(input: RecordedInput): Promise<void> {
    this.#time.moveTo(this.sandbox, Date.parse(input.at), Date.parse(input.wall))
    // Events that were due earlier ran by themselves, or when the next input arrived.
    if ('request' in input ? input.request.events === 0 : !('control' in input)) await runDue(this.sandbox)
    if ('request' in input) await this.#send(input)
    else if ('connection' in input) await this.#connect(input.connection)
    else if ('control' in input) await this.#call(input)
    else if ('outcomes' in input)
      for (const { attempt, ...result } of input.outcomes) take(this.#sends, attempt)?.(result)
    else if ('returned' in input) await this.#return(input.returned)
    do await whenQuiet(this.sandbox)
    while (this.#dropCalls())
  }

  /** Waits for the calls of the control interface that had a response. */
  async finish(): Promise<void> {
    await Promise.all(this.#calls)
  }

  /** Ends the replay before its last input. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.emulator?.close()
  }

  // The script of a function may still be loading.
  async #return(call: string): Promise<void> {
    const isPending = () => this.sandbox.store.get(scenarioCalls.name, call) !== undefined
    while (!this.#returns.has(call) && isPending() && !this.#isClosed) await nextTurn()
    this.#returned.add(call)
    take(this.#returns, call)?.()
  }

  // The result of a function is not recorded when its scenario was stopped meanwhile: later functions must not wait for it.
  #dropCalls(): boolean {
    const pending = this.sandbox.store.rows(scenarioCalls.name)
    const dropped = [...this.#returns.keys()].filter((call) => !pending.has(call))
    for (const call of dropped) take(this.#returns, call)?.()
    return dropped.length > 0
  }

  async #connect(id: string) {
    const connection = this.#connections.get(id) ?? (await this.emulator.connect(id))
    this.#connections.set(id, connection)
    connection.socket.resume()
    return connection
  }

  async #send({ request, output }: Extract<RecordedInput, { request: unknown }>): Promise<void> {
    const { socket, record } = await this.#connect(request.connection)
    const { log, faults } = this.sandbox
    const { gates } = faults
    record.requests = request.before
    const before = log.size + log.dropped
    // A request that waited at a gate has an earlier number than those that were handled meanwhile.
    const { requests } = log
    if (request.number !== undefined) log.requests = request.number - 1
    socket.write(bytesOf(request))
    for (let idle = 0; !this.#isClosed; idle++) {
      await nextTurn()
      const isLogged = log.size + log.dropped > before
      if (isLogged && (output === undefined || log.entries().at(-1)?.evidence?.end !== null)) break
      if (idle % IDLE_TURNS < IDLE_TURNS - 1) continue
      if (output?.sent?.end === 'left') socket.destroy()
      else if (gates.size > 0 && output?.sent?.end === 'cut') gates.abort(gates.held())
      else if (gates.size > 0) gates.release(gates.held())
      else if (this.#time.endWait()) idle = 0
      // What is missing comes from outside of this process, if at all.
      else await new Promise<void>((resolve) => later(1, resolve))
    }
    log.requests = Math.max(log.requests, requests)
  }

  async #call({ control, output }: Extract<RecordedInput, { control: unknown }>): Promise<void> {
    const { route, params, query, body, if_match } = control
    const { sandbox } = this.#bundle.state
    const call = this.emulator.control({ route, params, query, body, ifMatch: if_match, sandbox })
    // An advance may wait for inputs that came after its beginning, such as the responses of receivers.
    const mayWait = ['POST /clock/advance', 'PATCH /clock'].includes(route)
    if (!mayWait) return void (await call)
    const isOver = await Promise.race([call.then(() => true), whenQuiet(this.sandbox).then(() => false)])
    if (!isOver && output !== undefined) this.#calls.push(call)
  }
}

function take<T>(map: Map<string, T>, key: string): T | undefined {
  const value = map.get(key)
  map.delete(key)
  return value
}

/** No longer body is read by any operation. */
const MAX_FILL = 101 * 1024 * 1024

/** The bytes of a request. A body that was not read is filled up: its content had no effect. */
function bytesOf({ head, body = '' }: Extract<RecordedInput, { request: unknown }>['request']): Buffer {
  const start = Buffer.from(`${head.replaceAll('\n', '\r\n')}\r\n\r\n`, 'latin1')
  const content = typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.base64, 'base64')
  if (/^transfer-encoding:.*chunked/im.test(head)) {
    const end = Buffer.from('\r\n0\r\n\r\n')
    const size = Buffer.from(`${content.length.toString(16)}\r\n`)
    return Buffer.concat(content.length === 0 ? [start, end.subarray(2)] : [start, size, content, end])
  }
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
  return Buffer.concat([
    start,
    content,
    Buffer.alloc(Math.max(0, Math.min(length, MAX_FILL) - content.length)),
  ])
}

/** A part of a real millisecond by which the clock is moved until rounding has reached an instant. */
const STEP = 0.01

/** Far more parts than rounding needs. */
const MAX_STEPS = 10_000

/** Turns of the event loop after which nothing more happens by itself. */
const QUIET_TURNS = 4

/** The time of a replay: no real time passes, and waits of faults end in the order in which they would end. */
class ReplayTime {
  #wall: number
  #elapsed = 0
  #now = 0
  #waits: { readonly until: number; readonly call: () => void }[] = []
  readonly host: HostTime = Object.assign(() => Math.floor(this.#wall), { elapsed: () => this.#elapsed })

  constructor(wall: number) {
    this.#wall = wall
  }

  readonly later: Later = (ms, call) => {
    const wait = { until: this.#now + ms, call }
    this.#waits.push(wait)
    return () => {
      this.#waits = this.#waits.filter((each) => each !== wait)
    }
  }

  /** Ends the wait that would end first. @returns false if there is none */
  endWait(): boolean {
    const first = this.#waits.toSorted((a, b) => a.until - b.until)[0]
    if (first === undefined) return false
    this.#waits = this.#waits.filter((each) => each !== first)
    this.#now = first.until
    first.call()
    return true
  }

  /** Moves the host's clock to the time of an input: the clock of the sandbox is due at `at`. */
  moveTo(sandbox: Sandbox, at: number, wall: number): void {
    const { clock } = sandbox
    if (clock.rate === 0) this.#wall = wall
    else if (sandbox.advances.running === undefined) {
      const before = this.#elapsed
      this.#elapsed += clock.realUntil(at) ?? 0
      for (let n = 0; clock.due() < at && n < MAX_STEPS; n++) this.#elapsed += STEP / clock.rate
      if (clock.due() < at)
        throw new CommandFailed(`The clock of the recording cannot reach ${formatInstant(at)}.`)
      this.#wall += this.#elapsed - before
    }
  }
}

const NEVER = new AbortController().signal

/** Runs the events that are due, and waits for their consequences. */
async function runDue(sandbox: Sandbox): Promise<void> {
  await runBacklog(sandbox, { signal: NEVER, onBehind: () => {} })
  await whenQuiet(sandbox)
}

/** Resolves when a sandbox does nothing more without an input. */
async function whenQuiet({ store, log }: Sandbox): Promise<void> {
  for (let quiet = 0, before = ''; quiet < QUIET_TURNS; ) {
    await nextTurn()
    const present = `${store.revision} ${log.requests}`
    quiet = present === before ? quiet + 1 : 0
    before = present
  }
}
