import type { Assumptions } from '../../kernel/assumptions.ts'
import { queuedRuns } from './automation-operations.ts'
import { triggerEvents } from './event-triggers.ts'
import { triggerSources } from './providers.ts'
import { queueTime } from './runs.ts'

/** What the specification leaves open about agents, and the settings that decide it. */
export const agentAssumptions: Assumptions = {
  items: [
    {
      id: 'U007',
      open: 'What an entry of connectors holds.',
      reading: 'Any object, as the record of the template has it; none where the record has none.',
      shows: 'answer',
    },
    {
      id: 'U008',
      open: 'Identifiers of the three providers that emit events.',
      reading: 'Three placeholders, until a setting names them; records with another source are refused.',
      shows: 'answer',
    },
    {
      id: 'U058',
      open: 'What becomes of events while a trigger is paused.',
      reading:
        'They are dropped, and not made up for when it is resumed: only the control interface, through which the event came, tells that the trigger did not fire.',
      shows: 'nowhere',
    },
    {
      id: 'U061',
      open: 'Which event names there are.',
      reading:
        'Any with two parts that are not empty around one colon; a setting lists those that a client may give a trigger.',
      shows: 'answer',
    },
    {
      id: 'U062',
      open: 'How conditions in natural language are evaluated.',
      reading:
        'They are not: the record of the trigger holds their verdict, _emulator.condition_verdict, which is true unless said otherwise. No answer shows it, only the runs do.',
      shows: 'nowhere',
    },
    {
      id: 'T31',
      open: 'How a trigger goes back to one thread for all responses.',
      reading:
        'It cannot: the only value opens a thread per event, null is refused and leaving the member out keeps it. While it is unset, answers leave it out, and the first firing opens the thread that all share.',
      shows: 'nowhere',
    },
    {
      id: 'T35',
      open: 'What it means that an automation disappears from list and retrieve, which have no contract.',
      reading:
        'Both leave it out, and so do update and delete; its record and its runs stay. It fires no more, and its queued runs still execute unless a setting drops them. When automations fire is told by the cron expression in _emulator.schedule of their records, in UTC.',
      shows: 'nowhere',
    },
  ],
  settings: [triggerSources, triggerEvents, queuedRuns, queueTime],
}
