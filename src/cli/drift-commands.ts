import { command } from '../terminal/command.ts'
import { DRIFT_OPTIONS } from '../tools/options.ts'

/** The commands about drift from the real service. Their code is loaded when they run. */
export const driftCommands = [
  command({
    name: 'drift',
    description:
      'Repeat recordings of traffic with the real service, and say whose fault each difference is: exit code 1 for a difference, 3 if less than half of the exchanges could be compared',
    args: { '<paths...>': 'HAR files, or directories of them' },
    options: DRIFT_OPTIONS,
    run: async (invocation) => (await import('../tools/drift/command.ts')).drift(invocation),
  }),
]
