import { z } from 'zod'
import { load } from '../../core/load.ts'
import { memoize } from '../../core/memoize.ts'
import { DAY } from '../../core/time/instant.ts'
import { counted } from '../../core/words.ts'

// Loaded at the first schedule, since many sandboxes have none.
const cronModule = () => load('croner') as typeof import('croner')

/** Milliseconds after which the calendar repeats, weekdays included: 400 years. */
const CALENDAR_CYCLE = 146_097 * DAY

const MAX_LENGTH = 255

const NICKNAMES = '@yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly'

const WANTED =
  'must be a cron expression in UTC of 5 fields, or of 6 with the seconds in front, such as "30 6 * * 1-5" (06:30 on workdays), or a nickname such as "@hourly"'

/**
 * A cron expression: 5 fields, or 6 with the seconds first, or a nickname (`@hourly`); at most 255 characters. An expression
 * that matches no day, such as 30 February, is refused as a mistake: an automation that never fires has null.
 */
export function cronExpression(): z.ZodType<string> {
  return z.string().superRefine((expression, context) => {
    const problem = problemOf(expression)
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem })
  })
}

/**
 * The first occurrence of a cron expression strictly after an instant, both in milliseconds since the Unix epoch. The
 * expression has passed {@link cronExpression}. Undefined when it never occurs.
 */
export function nextOccurrence(expression: string, after: number): number | undefined {
  // Searched in the first cycle from 1970 on, since the package finds nothing after the year 3000.
  const cycles = Math.floor(after / CALENDAR_CYCLE) * CALENDAR_CYCLE
  const next = compiled(expression).nextRun(new Date(after - cycles))
  if (next === null) return undefined
  return next.getTime() + cycles
}

function problemOf(expression: string): string | undefined {
  if (expression.length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`
  const { CronPattern } = cronModule()
  try {
    // First, because the job below would read a text with a colon as a date.
    new CronPattern(expression, undefined, { mode: FIELDS })
  } catch (error) {
    return `${WANTED}; ${reasonOf(error as Error, expression)}`
  }
  if (compiled(expression).nextRun(new Date(0)) !== null) return undefined
  return 'selects no date of any year, so it would never fire; correct it, or use null for an automation without a schedule'
}

function reasonOf({ message }: Error, expression: string): string {
  if (expression.includes('@')) return `the nicknames are ${NICKNAMES}`
  const fields = expression.match(/\S+/g)?.length ?? 0
  if (fields < 5 || fields > 6) return `this one has ${counted(fields, 'field')}`
  return `this one is not understood: ${message.replace(/^CronPattern: (Syntax error, )?/, '')}`
}

const FIELDS = '5-or-6-parts'

/** The most cached expressions: each needs 80 kB, and the automations of a sandbox usually have fewer. */
const MAX_KEPT = 64

// Without a function to call, a job starts no timer. A fixed offset is ten times as fast as the name of a time zone.
const compiled = memoize(
  (expression) => new (cronModule().Cron)(expression, { utcOffset: 0, mode: FIELDS }),
  MAX_KEPT,
)
