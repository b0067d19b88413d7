import { createRequire } from 'node:module'
import type { Cron } from 'croner'
import * as z from 'zod'
import { END_OF_TIME } from '../../core/time/clock.ts'
import { DAY } from '../../core/time/instant.ts'
import { counted } from '../../core/words.ts'

type CronModule = typeof import('croner')

// A bundler sees the plain require and wraps the package, still to be run on first use; in plain ESM that name does not
// exist and createRequire takes over. A sandbox without schedules never pays for it.
function cronModule(): CronModule {
  try {
    return require('croner') as CronModule
  } catch {
    return createRequire(import.meta.url)('croner') as CronModule
  }
}

/** After so many days the calendar repeats itself, weekdays included: 400 years. */
const CALENDAR_CYCLE = 146_097 * DAY

const LONGEST = 255

const NICKNAMES = '@yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly'

const WANTED =
  'must be a cron expression in UTC of 5 fields, or of 6 with the seconds in front, such as "30 6 * * 1-5" (06:30 on workdays), or a nickname such as "@hourly"'

/**
 * A cron expression: 5 fields or 6 with the seconds in front, or a nickname (`@hourly`); at most 255 characters. One that
 * no day ever fits, such as 30 February, is refused: it is a mistake, since an automation that never fires has null.
 */
export function cronExpression(): z.ZodType<string> {
  return z.string().superRefine((expression, context) => {
    const problem = problemOf(expression)
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem })
  })
}

/**
 * The first occurrence of a cron expression strictly after an instant; undefined when the clock can never get there.
 * Both in milliseconds since the Unix epoch. The expression has passed {@link cronExpression}.
 */
export function nextOccurrence(expression: string, after: number): number | undefined {
  // Looked for in the first cycle from 1970 on, as the package gives up in the year 3000.
  const cycles = Math.floor(after / CALENDAR_CYCLE) * CALENDAR_CYCLE
  const next = compiled(expression).nextRun(new Date(after - cycles))
  if (next === null) return undefined
  const due = next.getTime() + cycles
  return due > END_OF_TIME ? undefined : due
}

function problemOf(expression: string): string | undefined {
  if (expression.length > LONGEST) return `must have at most ${LONGEST} characters`
  const { CronPattern } = cronModule()
  try {
    // First, because the job below takes a text with a colon for a date.
    new CronPattern(expression, undefined, { mode: FIELDS })
  } catch (error) {
    return `${WANTED}; ${reasonOf(error as Error, expression)}`
  }
  if (compiled(expression).nextRun(new Date(0)) !== null) return undefined
  return 'names no day that any year has, so it would never fire; correct it, or write null for an automation without a schedule'
}

function reasonOf({ message }: Error, expression: string): string {
  if (expression.includes('@')) return `the nicknames are ${NICKNAMES}`
  const fields = expression.match(/\S+/g)?.length ?? 0
  if (fields < 5 || fields > 6) return `this one has ${counted(fields, 'field')}`
  return `this one is not understood: ${message.replace(/^CronPattern: (Syntax error, )?/, '')}`
}

const FIELDS = '5-or-6-parts'

/** A compiled expression takes 80 kB, so few are kept: more than a sandbox's automations usually have. */
const MAX_KEPT = 64

const kept = new Map<string, Cron>()

// Without a function to call, a job starts no timer. By a fixed offset it is ten times as fast as by the name of a zone.
function compiled(expression: string): Cron {
  const known = kept.get(expression)
  if (known !== undefined) return known
  const cron = new (cronModule().Cron)(expression, { utcOffset: 0, mode: FIELDS })
  const [oldest] = kept.keys()
  if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest)
  kept.set(expression, cron)
  return cron
}
