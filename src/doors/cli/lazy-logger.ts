import type { LogFields, Logger, LogLevel, LogOptions } from './logger.ts'

/** A logger of which one can know that everything is out. */
export interface FlushableLogger extends Logger {
  flush(): Promise<void>
}

type Method = keyof Logger
type Entry = readonly [method: Method, message: string, fields: LogFields | undefined]

const SEVERITY: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 }

/**
 * A logger that costs nothing until something is logged: the logging library is loaded with the first entry of enough
 * severity, which waits for it together with those behind it.
 * @param load brings the logger that does the work
 */
export function lazyLogger(
  options: LogOptions,
  load: (options: LogOptions) => Promise<Logger> = async (given) =>
    (await import('./pino-sink.ts')).pinoLogger(given),
): FlushableLogger {
  const waiting: Entry[] = []
  let loading: Promise<void> | undefined
  let loaded: Logger | undefined

  const drain = async (): Promise<void> => {
    const sink = await load(options).catch(() => plainLogger(options))
    for (const [method, message, fields] of waiting) sink[method](message, fields)
    loaded = sink
  }
  const log =
    (method: Method) =>
    (message: string, fields?: LogFields): void => {
      if (SEVERITY[method] < SEVERITY[options.level]) return
      if (loaded !== undefined) {
        loaded[method](message, fields)
        return
      }
      waiting.push([method, message, fields])
      loading ??= drain()
    }
  return {
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    flush: async () => loading,
  }
}

// When the installation lacks a file, what it says must still come out. Fields stay away: here nothing hides secrets.
function plainLogger({ write }: LogOptions): Logger {
  const log = (method: Method) => (message: string) => write(`${method}: ${message}\n`)
  return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
}
