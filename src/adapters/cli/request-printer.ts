import type { LogEntry } from '../../core/log/request-log.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { hostTime } from '../../core/time/clock.ts'
import { formatInstant } from '../../core/time/instant.ts'
import type { RunningEmulator } from '../../emulator.ts'
import { later } from '../realtime.ts'
import type { Invocation, Terminal } from './command.ts'
import type { StartOptions } from './launch.ts'
import { harmless, rendered } from './print.ts'
import { isFailure, type LinedRequest, requestLines } from './request-line.ts'

/**
 * Prints a line for each request of an emulator after its response was sent. Without `--log-requests` it is on only if
 * `isUsual` is true. When it is off, it adds no listeners.
 * @returns prints the lines that still wait
 */
export function printRequests(
  emulator: RunningEmulator,
  { options, given, terminal }: Pick<Invocation<keyof StartOptions>, 'options' | 'given' | 'terminal'>,
  isUsual: boolean,
): () => void {
  const mode = given.has('logRequests') ? options.logRequests : isUsual ? 'on' : 'off'
  if (mode === 'off') return () => {}
  const printer = new RequestPrinter(writerOf(options, terminal), mode === 'errors')
  for (const { sandbox } of emulator.sandboxes.list()) printer.watch(sandbox)
  emulator.sandboxes.onMade((sandbox) => printer.watch(sandbox))
  return () => printer.flush()
}

/** Whether a person follows the log: on a terminal, unless `--quiet` or `--log-level` reduces the log. */
export function isFollowed(
  { logLevel, quiet }: StartOptions,
  { colours }: Pick<Terminal, 'colours'>,
): boolean {
  return colours && !quiet && (logLevel === 'info' || logLevel === 'debug')
}

// Not through the logger, which would wait for its library and apply --log-level to these lines.
function writerOf({ logFormat, noColor }: StartOptions, terminal: Terminal) {
  const colours = terminal.colours && !noColor
  const lineOf = (request: LinedRequest): string => {
    if (logFormat === 'pretty')
      return requestLines(request)
        .map((line) => rendered(line, { colours }))
        .join('\n')
    const time = formatInstant(hostTime())
    return harmless(JSON.stringify({ level: 'info', time, message: 'request', ...request }))
  }
  return (requests: readonly LinedRequest[]) => terminal.err(requests.map(lineOf).join('\n'))
}

/** Milliseconds that a line may wait for others: too short to be noticed. */
const MAX_DELAY = 20

/** Collects the requests of sandboxes, and writes those of the same 20 ms together. */
export class RequestPrinter {
  readonly #write: (requests: readonly LinedRequest[]) => void
  readonly #onlyFailures: boolean
  #waiting: LinedRequest[] = []

  constructor(write: (requests: readonly LinedRequest[]) => void, onlyFailures: boolean) {
    this.#write = write
    this.#onlyFailures = onlyFailures
  }

  watch({ log, name }: Sandbox): void {
    log.onEntry((entry) => {
      const { timing } = entry
      if (timing === undefined) this.#add(entry, name)
      else timing.onOver = () => this.#add(entry, name)
    })
  }

  /** Writes the waiting lines. */
  flush(): void {
    const requests = this.#waiting
    this.#waiting = []
    if (requests.length > 0) this.#write(requests)
  }

  #add({ id, at, method, path, status, timing, faults, cors }: LogEntry, sandbox: string): void {
    const refusal = cors?.refusal && { cors: { origin: cors.origin, ...cors.refusal } }
    if (this.#onlyFailures && !isFailure({ status, ...refusal })) return
    // Requests do not wait for the terminal, and one write of many lines is cheaper than many writes.
    if (this.#waiting.length === 0) later(MAX_DELAY, () => this.flush())
    const fired = (faults?.fired ?? []).map(({ rule }) => rule.id)
    const ms = timing?.took ?? null
    this.#waiting.push({ id, at, method, path, status, sandbox, ms, faults: fired, ...refusal })
  }
}
