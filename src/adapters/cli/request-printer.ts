import type { LogEntry } from '../../core/log/request-log.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import type { RunningEmulator } from '../../emulator.ts'
import type { Logger } from '../../options.ts'
import type { Invocation, Terminal } from './command.ts'
import type { StartOptions } from './launch.ts'
import { isFailure, type LinedRequest, requestLine } from './request-line.ts'

/** Where the lines of requests go. */
interface Sink {
  /** Takes the lines of one turn of the event loop together. */
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
  logger: Logger,
  isUsual: boolean,
): () => void {
  const mode = given.has('logRequests') ? options.logRequests : isUsual ? 'on' : 'off'
  if (mode === 'off') return () => {}
  const printer = new RequestPrinter({
    write: writerOf(options, terminal, logger),
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

function writerOf({ logFormat, noColor }: StartOptions, terminal: Terminal, logger: Logger): Sink['write'] {
  const colours = terminal.colours && !noColor
  if (logFormat === 'json') {
    return (requests) => {
      for (const request of requests) logger.info('request', { ...request })
    }
  }
  return (requests) => terminal.err(requests.map((request) => requestLine(request, colours)).join('\n'))
}

/** Collects the requests of some sandboxes, and writes those of one turn of the event loop at once, after it. */
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
    // No request waits for a terminal: lines are written when its turn is over.
    if (this.#waiting.length === 0) setImmediate(() => this.flush())
    const fired = (faults?.fired ?? []).map(({ rule }) => rule.id)
    this.#waiting.push({ id, at, method, path, status, sandbox, ms: timing?.took ?? null, faults: fired })
  }
}
