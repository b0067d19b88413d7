import type { Logger } from '../emulator/options.ts'
import { harmless } from './print.ts'

const SEVERITY = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 } as const

export interface LogOptions {
  /** The lowest severity that is logged. */
  readonly level: keyof typeof SEVERITY
  readonly format: 'pretty' | 'json'
  readonly colours: boolean
  /** Gets whole lines, with their newlines. */
  readonly write: (line: string) => void
}

/** A logger that can wait until every entry is written. */
export interface FlushableLogger extends Logger {
  flush(): Promise<void>
}

/**
 * A logger that loads the logging library with the first entry of enough severity. Entries wait in memory until it is loaded.
 * @param load creates the logger that writes the entries
 */
export function lazyLogger(
  options: LogOptions,
  load: (options: LogOptions) => Promise<Logger> = pinoLogger,
): FlushableLogger {
  let sink: Promise<Logger> | undefined
  let written: Promise<void> | undefined
  const logger = loggerOf((method) => (message, fields) => {
    if (SEVERITY[method] < SEVERITY[options.level]) return
    sink ??= load(options).catch((error: unknown) => plainLogger(options, String(error)))
    written = sink.then((loaded) => loaded[method](message, fields))
  })
  return { ...logger, flush: async () => written }
}

/**
 * A logger that needs no package: those may have been replaced before the first entry, or no file descriptor may be free. It
 * leaves out the fields of entries, since it cannot redact them.
 */
function plainLogger({ format, write }: LogOptions, why: string): Logger {
  const logger = loggerOf((level) => (message) => {
    const line = format === 'json' ? JSON.stringify({ level, message }) : harmless(`${level}: ${message}`)
    write(`${line}\n`)
  })
  const [reason] = why.split('\n')
  logger.warn(
    `The log is plain and without fields until the next start: its library cannot be loaded (${reason}).`,
  )
  return logger
}

function loggerOf(method: (name: keyof Logger) => Logger['info']): Logger {
  return { info: method('info'), warn: method('warn'), error: method('error') }
}

// Fields that are redacted in every entry. `code` and `state` are too common to be redacted by name.
const SECRETS = [
  'authorization',
  'Authorization',
  'cookie',
  'control_token',
  'controlToken',
  'token',
  'claim_token',
]

/**
 * A logger that uses pino for both formats. Lines are formatted in this process, since pino's transports need a worker that
 * loads files, and this command is bundled.
 */
export async function pinoLogger({ level, format, colours, write }: LogOptions): Promise<Logger> {
  const { pino } = await import('pino')
  const line = format === 'json' ? (text: string) => write(harmless(text)) : await prettied(colours, write)
  const logger = pino(
    {
      level,
      base: null,
      messageKey: 'message',
      errorKey: 'error',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // At the top and up to two levels down: { request: { headers: { authorization } } }.
      redact: { paths: SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
    },
    { write: line },
  )
  return loggerOf(
    (method) =>
      (message, fields = {}) =>
        logger[method](fields, message),
  )
}

async function prettied(colours: boolean, write: (line: string) => void): Promise<(line: string) => void> {
  const { prettyFactory } = await import('pino-pretty')
  const pretty = prettyFactory({
    colorize: colours,
    messageKey: 'message',
    errorLikeObjectKeys: ['error'],
    translateTime: 'HH:MM:ss.l',
  })
  // Control characters are escaped before colours are added, since colours are control characters too.
  const shown = (value: unknown) => (typeof value === 'string' ? harmless(value) : value)
  return (line) => write(pretty(JSON.parse(line, (_, value) => shown(value))) ?? '')
}
