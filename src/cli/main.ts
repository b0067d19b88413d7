import { FAILED, type Streams } from '../terminal/command.ts'
import { environment } from '../terminal/options.ts'
import { oneLine } from '../terminal/print.ts'
import { run } from './command-line.ts'

const streams: Streams = {
  out: (text) => void process.stdout.write(`${text}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
  colours: process.stderr.isTTY === true,
  width: process.stdout.isTTY ? process.stdout.columns : undefined,
}

/** The whole program: runs the command line of this process and ends it with the exit code. */
export async function main(): Promise<void> {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // A reader that has closed the pipe (`| head`) is not an error.
      if (error.code !== 'EPIPE') throw error
    })
  process.on('uncaughtException', hearUncaught)
  process.on('unhandledRejection', hearUncaught)
  const code = await run(process.argv.slice(2), environment(), streams)
  // Handles may still be open, but all data is saved. Pending output is written before the exit.
  process.stdout.write('', () => process.exit(code))
}

// A late error of a scenario script is printed. A defect of the emulator ends the process with one clear line, instead of
// leaving it half working.
function hearUncaught(error: unknown): void {
  const print = (line: string | undefined) => (line === undefined ? die(error) : streams.err(line))
  import('../emulator/emulator.ts')
    .then(({ lateErrorLine }) => print(lateErrorLine(error)))
    .catch(() => die(error))
}

function die(error: unknown): never {
  streams.err(`workspace-emulator stops: ${oneLine(error)}`)
  process.exit(FAILED)
}
