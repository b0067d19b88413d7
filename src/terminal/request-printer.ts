import type { LogEntry } from '../core/log/request-log.ts'
import { traceIn } from '../core/log/traceparent.ts'
import { harmless } from '../core/quoted.ts'
import type { Sandbox } from '../core/sandboxes/sandbox.ts'
import { hostTime } from '../core/time/clock.ts'
import { formatInstant } from '../core/time/instant.ts'
import type { RunningEmulator } from '../emulator/emulator.ts'
import type { Invocation, Terminal } from './command.ts'
import type { StartOptions } from './launch.ts'
import type { START_OPTIONS } from './options.ts'
import { rendered } from './print.ts'
import { isFailure, type LinedRequest, requestLines } from './request-line.ts'

/**
 * Prints a line for each request of an emulator after its response was sent. Without `--log-requests` it is on only if
 * `isUsual` is true. When it is off, it adds no listeners.
 */
export function printRequests(
  { sandboxes }: RunningEmulator,
  { options, given, terminal }: Pick<Invocation<typeof START_OPTIONS>, 'options' | 'given' | 'terminal'>,
  isUsual: boolean,
): void {
  const mode = given.has('logRequests') ? options.logRequests : isUsual ? 'on' : 'off'
  if (mode === 'off') return
  const watch = ({ log, name }: Sandbox) =>
    log.onEntry((entry) => {
      const report = (): void => {
        const request = linedOf(entry, name)
        // Not through the logger, which would wait for its library and apply --log-level to these lines.
        if (mode === 'on' || isFailure(request)) terminal.err(printed(request, options, terminal))
      }
      if (entry.timing === undefined) report()
      else entry.timing.onOver = report
    })
  for (const { sandbox } of sandboxes.list()) watch(sandbox)
  sandboxes.onMade(watch)
}

/** Whether a person follows the log: on a terminal, unless `--quiet` or `--log-level` reduces the log. */
export function isFollowed({ logLevel, quiet }: StartOptions, { colours }: Pick<Terminal, 'colours'>) {
  return colours && !quiet && (logLevel === 'info' || logLevel === 'debug')
}

function linedOf(entry: LogEntry, sandbox: string): LinedRequest {
  const { id, at, method, path, status, timing, faults, tomorrow, cors } = entry
  return {
    ...{ id, at, method, path, status, sandbox },
    ms: timing?.took ?? null,
    faults: (faults?.fired ?? []).map(({ rule }) => rule.id),
    ...(tomorrow && { tomorrow }),
    ...traceIn(entry.headers),
    ...(cors?.refusal && { cors: { origin: cors.origin, ...cors.refusal } }),
  }
}

function printed(request: LinedRequest, { logFormat, noColor }: StartOptions, { colours }: Terminal): string {
  if (logFormat === 'json') {
    const time = formatInstant(hostTime())
    return harmless(JSON.stringify({ level: 'info', time, message: 'request', ...request }))
  }
  const screen = { colours: colours && !noColor }
  return requestLines(request)
    .map((line) => rendered(line, screen))
    .join('\n')
}
