type Level = 'info' | 'warn' | 'error'

/** A logger, and the messages that it was given at these levels. */
export function keptLogger(...levels: readonly Level[]) {
  const said: string[] = []
  const keep = (level: Level) => (message: string) => void (levels.includes(level) && said.push(message))
  return { said, logger: { info: keep('info'), warn: keep('warn'), error: keep('error') } }
}
