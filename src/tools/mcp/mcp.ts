import { once } from 'node:events'
import { Transform } from 'node:stream'
import type { RunningEmulator } from '../../emulator/emulator.ts'
import { type Invocation, OK } from '../../terminal/command.ts'
import { controlOf, NothingListens } from '../../terminal/control-client.ts'
import { generatedToken, launch, loggerOf, type StartOptions } from '../../terminal/launch.ts'
import { givenOptions, isNpmScript, resolveOptions, START_OPTIONS } from '../../terminal/options.ts'
import { oneLine } from '../../terminal/print.ts'
import { onSignals } from '../../terminal/signals.ts'
import type { MCP_OPTIONS } from '../options.ts'
import { StdioServerTransport, serveStdio } from './sdk.ts'
import { mcpServer } from './server.ts'
import type { FoundEmulator } from './tools.ts'

type McpInvocation = Invocation<typeof MCP_OPTIONS>

/** `mcp`: serves the Model Context Protocol on stdin and stdout until the client closes stdin. */
export async function mcp(invocation: McpInvocation): Promise<number> {
  const { options, env, terminal } = invocation
  const { stdin, stdout, stderr } = process
  if (stdin.isTTY)
    terminal.err(
      'Coding agents start this command and talk to it on stdin; Ctrl-C ends it. See docs/guide/coding-agents.md.',
    )
  // A scenario script may write to the console, while stdout is for the protocol.
  Object.defineProperty(process, 'stdout', { value: stderr, configurable: true })
  const tooLong = () => {
    const message = `A message may have at most ${MAX_LINE} bytes; this one was not read. Send less at once.`
    stdout.write(`${JSON.stringify({ jsonrpc: '2.0', error: { code: -32_600, message } })}\n`)
  }
  const emulator = emulatorFor(invocation)
  const served = serveStdio(() => mcpServer({ readOnly: options.readOnly, find: emulator.find }), {
    transport: new StdioServerTransport(stdin.pipe(boundedLines(tooLong)), stdout, {
      maxBufferSize: 2 * MAX_LINE,
    }),
    onerror: (error) => terminal.err(oneLine(error)),
  })
  const signalled = new Promise<void>((resolve) => {
    onSignals(() => resolve(), isNpmScript(env))
  })
  await Promise.race([once(stdin, 'close'), signalled])
  await served.close()
  await emulator.close()
  return OK
}

/** Bytes of one message. */
const MAX_LINE = 10_000_000

/** Passes whole lines on, and reports the end of one that is too long: the SDK would close the connection. */
export function boundedLines(onTooLong: () => void, max = MAX_LINE): Transform {
  let [line, size] = ['', 0]
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (const part of chunk.toString('latin1').split(/(?<=\n)/)) {
        size += part.length
        line = size > max ? '' : line + part
        if (!part.endsWith('\n')) continue
        if (size > max) onTooLong()
        else this.push(line, 'latin1')
        ;[line, size] = ['', 0]
      }
      done()
    },
  })
}

/** Milliseconds in which a running emulator responds. */
const PATIENCE = 5_000

/** The running emulator. If the user names none and none listens at the default address, one starts there, in this process. */
function emulatorFor(invocation: McpInvocation) {
  const { options, given } = invocation
  let own: Promise<{ readonly emulator: RunningEmulator; readonly found: FoundEmulator }> | undefined
  const find = async (): Promise<FoundEmulator> => {
    if (own !== undefined) return (await own).found
    try {
      await controlOf(options, PATIENCE)('GET /health')
      return { ...options, isOwn: false }
    } catch (error) {
      if (given.has('url') || !(error instanceof NothingListens)) throw error
    }
    own ??= startOwn(invocation)
    // The next call tries again: another process may have started an emulator in between.
    own.catch(() => {
      own = undefined
    })
    return (await own).found
  }
  return { find, close: async () => (await own)?.emulator.close() }
}

/** Starts an emulator with the options of `start` that the environment sets; it is in memory unless they name a folder. */
async function startOwn({ options: { sandbox }, env, terminal }: McpInvocation) {
  const start = resolveOptions(START_OPTIONS, new Map(), env)
  const given = givenOptions(START_OPTIONS, new Map(), env)
  const controlToken = start.controlToken ?? generatedToken(start)
  const ephemeral = start.ephemeral || !given.has('data')
  const options: StartOptions = { ...start, quiet: true, controlToken, ephemeral }
  const emulator = await launch(options, given, loggerOf(options, terminal))
  const url = emulator.baseUrl.replace(/\/v1$/, '')
  return { emulator, found: { url, controlToken, sandbox, isOwn: true } }
}
