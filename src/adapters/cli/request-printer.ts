import type { LogEntry } from '../../core/log/request-log.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { hostTime } from '../../core/time/clock.ts'
import { formatInstant } from '../../core/time/instant.ts'
import type { RunningEmulator } from '../../emulator.ts'
import { later } from '../realtime.ts'
import type { Invocation, Terminal } from './command.ts'
import type { StartOptions } from './launch.ts'
import { harmless } from './print.ts'
import { isFailure, type LinedRequest, requestLine } from './request-line.ts'

/** The destination of the lines of requests. */
interface Sink {
  /** Writes the lines of requests that came at nearly the same time. */
  write(requests: readonly LinedRequest[]): void
  readonly onlyFailures: boolean
}

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
  const printer = new RequestPrinter({
    write: writerOf(options, terminal),
    onlyFailures: mode === 'errors',
  })
  for (const { sandbox } of emulator.sandboxes.list()) printer.watch(sandbox)
  emulator.sandboxes.onMade((sandbox) => printer.watch(sandbox))
  return () => printer.flush()
}

/** Whether a person follows the log: on a terminal, unless `--quiet` or `--log-level` reduces the log. */
export function isFollowed({ logLevel, quiet }: StartOptions, { colours }: Terminal): boolean {
  return colours && !quiet && (logLevel === 'info' || logLevel === 'debug')
}

// Not through the logger, which would wait for its library and apply --log-level to these lines.
function writerOf({ logFormat, noColor }: StartOptions, terminal: Terminal): Sink['write'] {
  const colours = terminal.colours && !noColor
  const lineOf = (request: LinedRequest): string => {
    if (logFormat === 'pretty') return requestLine(request, colours)
    const time = formatInstant(hostTime())
    return harmless(JSON.stringify({ level: 'info', time, message: 'request', ...request }))
  }
  return (requests) => terminal.err(requests.map(lineOf).join('\n'))
}

/** Milliseconds that a line may wait for others: too short to be noticed. */
const MAX_DELAY = 20

/** Collects the requests of sandboxes, and writes those of the same 20 ms together. */
export class RequestPrinter {
  readonly #sink: Sink
  #waiting: LinedRequest[] = []

  constructor(sink: Sink) {
    this.#sink = sink
  }

  watch({ log, name }: Sandbox): void {
    log.onEntry((entry) => {
      if (this.#sink.onlyFailures && !isFailure(entry.status)) return
      const { timing } = entry
      if (timing === undefined) this.#add(entry, name)
      else timing.onOver = () => this.#add(entry, name)
    })
  }

  /** Writes the waiting lines. */
  flush(): void {
    const requests = this.#waiting
    this.#waiting = []
    if (requests.length > 0) this.#sink.write(requests)
  }

  #add({ id, at, method, path, status, timing, faults }: LogEntry, sandbox: string): void {
    // Requests do not wait for the terminal, and one write of many lines is cheaper than many writes.
    if (this.#waiting.length === 0) later(MAX_DELAY, () => this.flush())
    const fired = (faults?.fired ?? []).map(({ rule }) => rule.id)
    this.#waiting.push({ id, at, method, path, status, sandbox, ms: timing?.took ?? null, faults: fired })
  }
}
