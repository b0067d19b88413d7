import { directFetch } from '../control-client/direct.ts'
import { type EventOptions, followEvents } from '../control-client/events.ts'
import { DEFAULT_SANDBOX } from '../core/sandboxes/name.ts'
import type { SandboxEvent } from '../index.ts'
import { type Invocation, OK } from '../terminal/command.ts'
import { emulatorOrigin, failure, namedIn } from '../terminal/control-client.ts'
import type { SANDBOX_OPTIONS } from '../terminal/options.ts'

/**
 * Calls `onEvent` for each event of a sandbox in order, `hello` first, until the emulator ends the stream.
 * Rejects with {@link CommandFailed} when no emulator responds, or when the connection breaks.
 */
export async function follow(
  { options, terminal }: Invocation<typeof SANDBOX_OPTIONS>,
  { types, signal }: EventOptions,
  onEvent: (event: SandboxEvent) => unknown,
): Promise<number> {
  const { controlToken, sandbox = namedIn(options) ?? DEFAULT_SANDBOX } = options
  try {
    const address = { url: emulatorOrigin(options), controlToken, fetch: directFetch }
    for await (const event of followEvents(address, sandbox, { types, signal })) {
      await onEvent(event)
      if (event.type === 'dropped')
        terminal.err(`Events came faster than they were read, and were dropped: ${event.data.count}.`)
      if (event.type === 'end') terminal.err(`The emulator has ended the stream: ${event.data.reason}`)
    }
    return OK
  } catch (error) {
    throw failure(options, 'GET /events', error)
  }
}
