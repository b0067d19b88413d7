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

/** Where the lines of requests go. */
interface Sink {
  /** Takes the lines of requests that came at nearly the same time. */
  write(requests: readonly LinedRequest[]): void
  readonly onlyFailures: boolean
}

/**
 * Prints a line for each request of an emulator, when its response is out. Does nothing, and costs nothing, where that is not
 * wanted: it is on by default where a person looks at it.
 * @returns prints what is not printed yet
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

/** Whether a person follows the log: on a terminal, unless less is asked for. */
export function isFollowed({ logLevel, quiet }: StartOptions, { colours }: Terminal): boolean {
  return colours && !quiet && (logLevel === 'info' || logLevel === 'debug')
}

// Beside the logger, which would wait for its library, and leave out lines that --log-requests asks for but --log-level does not.
function writerOf({ logFormat, noColor }: StartOptions, terminal: Terminal): Sink['write'] {
  const colours = terminal.colours && !noColor
  const lineOf = (request: LinedRequest): string => {
    if (logFormat === 'pretty') return requestLine(request, colours)
    const time = formatInstant(hostTime())
    return harmless(JSON.stringify({ level: 'info', time, message: 'request', ...request }))
  }
  return (requests) => terminal.err(requests.map(lineOf).join('\n'))
}

/** Milliseconds for which a line may wait for others: too short to be seen. */
const MAX_DELAY = 20

/** Collects the requests of some sandboxes, and writes those that come within a moment at once. */
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

  /** Writes what waits. */
  flush(): void {
    const requests = this.#waiting
    this.#waiting = []
    if (requests.length > 0) this.#sink.write(requests)
  }

  #add({ id, at, method, path, status, timing, faults }: LogEntry, sandbox: string): void {
    // No request waits for a terminal, and one write for many lines costs a part of many writes.
    if (this.#waiting.length === 0) later(MAX_DELAY, () => this.flush())
    const fired = (faults?.fired ?? []).map(({ rule }) => rule.id)
    this.#waiting.push({ id, at, method, path, status, sandbox, ms: timing?.took ?? null, faults: fired })
  }
}
