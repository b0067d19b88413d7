/** What a log entry carries besides its sentence. Secrets in it are hidden by their names, see `pino-sink.ts`. */
export type LogFields = Readonly<Record<string, unknown>>

/** Takes what happens, for people and machines to read. Never throws. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

export interface LogOptions {
  /** The least severity that is logged. */
  readonly level: LogLevel
  readonly format: 'pretty' | 'json'
  readonly colours: boolean
  /** Takes whole lines, their ends included. */
  readonly write: (line: string) => void
}
