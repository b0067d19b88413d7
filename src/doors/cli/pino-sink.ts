import type { LogFields, Logger, LogOptions } from './logger.ts'
import { harmless } from './print.ts'

// Members that carry a secret wherever they stand; `code` and `state` are too common to be hidden by name.
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
 * The logger behind {@link Logger}: pino for both formats. Lines are made in this process and written at once; pino's
 * transports would need a worker that loads files, and this command is bundled.
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
      redact: { paths: everywhere(SECRETS), censor: '[redacted]' },
    },
    { write: line },
  )
  const log =
    (method: keyof Logger) =>
    (message: string, fields: LogFields = {}): void =>
      logger[method](fields, message)
  return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
}

async function prettied(colours: boolean, write: (line: string) => void): Promise<(line: string) => void> {
  const { prettyFactory } = await import('pino-pretty')
  const pretty = prettyFactory({
    colorize: colours,
    messageKey: 'message',
    errorLikeObjectKeys: ['error'],
    translateTime: 'HH:MM:ss.l',
  })
  // Here, since the colours that are added are what the texts must not hold.
  return (line) => write(pretty(JSON.parse(line, (_, value) => shown(value))) ?? '')
}

function shown(value: unknown): unknown {
  return typeof value === 'string' ? harmless(value) : value
}

// At the top, and up to two levels down: { authorization }, { headers: { authorization } }, { request: { headers: ... } }.
function everywhere(names: readonly string[]): string[] {
  return names.flatMap((name) => [name, `*.${name}`, `*.*.${name}`])
}
