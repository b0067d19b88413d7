import { type EventHandler, idOf, refOf, type Scope } from '../../kernel/operation.ts'
import { eventId, SCHEDULE, type ScheduledEvent } from '../../kernel/time/scheduler.ts'
import { type Automation, automations } from './automations.ts'
import { nextOccurrence } from './cron.ts'
import { queueRun } from './runs.ts'

const FIRE = 'automation.fire'

/**
 * Brings the schedule in line with an automation: the next occurrence of its cron expression strictly after now, and
 * nothing once it has no expression or is deleted. An event that stands where the expression wants it is left alone.
 */
export function armAutomation(scope: Scope, automation: Automation): void {
  const ref = refOf(automations, automation)
  const { schedule, deleted_at } = automation._emulator
  const due = schedule === null || deleted_at !== null ? undefined : nextOccurrence(schedule, scope.now)
  if (schedule === null || due === undefined) {
    scope.unschedule(ref, [FIRE])
    return
  }
  const present = scope.tx.get(SCHEDULE, eventId(FIRE, ref)) as ScheduledEvent | undefined
  if (present !== undefined && stands(present, schedule, due)) return
  const says = `The automation fires and queues a run of its agent, as its schedule "${schedule}" says.`
  scope.schedule({ kind: FIRE, ref, due, urgency: 'work', says })
}

// An occurrence that is due by now and has yet to run must not be lost either.
function stands({ due_at }: ScheduledEvent, schedule: string, next: number): boolean {
  const due = Date.parse(due_at)
  return due === next || (due < next && nextOccurrence(schedule, due - 1) === due)
}

export const fireAutomation: EventHandler = {
  kind: FIRE,
  says: 'An automation fires: a run of its agent is queued, and its next occurrence is scheduled.',
  // One that was deleted or lost its schedule since is left alone.
  handle: (scope, { ref }) => {
    const automation = scope.tx.in(automations).get(idOf(ref))
    if (automation === undefined) return
    const { agent_id, schedule, deleted_at } = automation._emulator
    if (schedule === null || deleted_at !== null) return
    queueRun(scope, {
      agent_id,
      automation_id: automation.id,
      cause: 'The schedule of the automation was due.',
    })
    armAutomation(scope, automation)
  },
}
