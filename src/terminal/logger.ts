import { styleText } from 'node:util'
import { isObject } from '../core/json.ts'
import { harmless } from '../core/quoted.ts'
import { withoutSecretsInText } from '../core/redaction.ts'
import { hostTime } from '../core/time/clock.ts'
import { formatInstant } from '../core/time/instant.ts'
import type { Logger } from '../emulator/options.ts'

const SEVERITY = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 } as const

export interface LogOptions {
  /** The lowest severity that is logged. */
  readonly level: keyof typeof SEVERITY
  readonly format: 'pretty' | 'json'
  readonly colours: boolean
  /** Gets one entry without a newline at its end. A pretty entry with fields has several lines. */
  readonly write: (entry: string) => void
}

/** A logger that writes each entry of enough severity at once. */
export function loggerTo(options: LogOptions): Logger {
  const method =
    (level: keyof Logger) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}) => {
      if (SEVERITY[level] < SEVERITY[options.level]) return
      const time = formatInstant(hostTime())
      // Secrets are removed first, so that both formats show the same.
      const entry = withoutSecretsInText(JSON.stringify({ level, time, ...fields, message }, plain))
      options.write(
        options.format === 'json' ? harmless(entry) : pretty(JSON.parse(entry, shown), options.colours),
      )
    }
  return { info: method('info'), warn: method('warn'), error: method('error') }
}

function plain(_: string, value: unknown): unknown {
  return value instanceof Error ? plainError(value) : value
}

/** An error as JSON, with the errors that caused it. Its own fields may hold what JSON cannot: only plain values are kept. */
function plainError(error: Error): object {
  const causes: Error[] = []
  for (let each: unknown = error; each instanceof Error && !causes.includes(each); each = each.cause)
    causes.push(each)
  return {
    type: error.name,
    message: causes.map(({ message }) => message).join(': '),
    stack: causes.map(({ stack }) => stack).join('\ncaused by: '),
    ...Object.fromEntries(Object.entries(error).filter(([, value]) => Object(value) !== value)),
  }
}

// Control characters are escaped before colours are added, since colours are control characters too.
function shown(_: string, value: unknown): unknown {
  return typeof value === 'string' ? harmless(value) : value
}

const COLOURS = { info: 'green', warn: 'yellow', error: 'red' } as const

function pretty({ level, time, message, ...fields }: Readonly<Record<string, unknown>>, colours: boolean) {
  const styled = (style: Parameters<typeof styleText>[0], text: string) =>
    colours ? styleText(style, text, { validateStream: false }) : text
  const title = styled(COLOURS[level as keyof Logger], String(level).toUpperCase())
  return [
    `[${String(time).slice(11, 23)}] ${title}: ${styled('cyan', String(message))}`,
    ...Object.entries(fields).map(([name, value]) => `    ${styled('magenta', name)}: ${indented(value)}`),
  ].join('\n')
}

/** A value as JSON below its name. The stack of an error keeps its lines. */
function indented(value: unknown): string {
  const lines = JSON.stringify(value, null, 2).split('\n')
  const stack = isObject(value) && typeof value.stack === 'string' ? value.stack : undefined
  return lines
    .flatMap((line) => {
      if (stack === undefined || !line.startsWith('  "stack": ')) return line
      return ['  "stack":', ...stack.split('\n').map((each) => `      ${each}`)]
    })
    .join('\n    ')
}
