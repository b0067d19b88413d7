import { run } from './command-line.ts'
import { environment } from './options.ts'
import { guardProcess, processTerminal } from './process-events.ts'

/** The whole program: obeys the command line of this process and ends it with the exit code. */
export async function main(): Promise<void> {
  guardProcess()
  const code = await run(process.argv.slice(2), environment(), processTerminal)
  // Handles may be open still; by now everything is closed or saved, and what is written comes out first.
  process.stdout.write('', () => process.exit(code))
}
