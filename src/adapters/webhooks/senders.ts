import { loaded } from '../../core/load.ts'
import { once } from '../../core/once.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import type { Cancel } from '../../core/time/realtime.ts'
import type { Send } from './send.ts'
import { Slots, WebhookSender } from './sender.ts'
import { allowTargets, type TargetOptions, Targets } from './targets.ts'

interface WebhookSendersOptions extends Pick<TargetOptions, 'forbiddenPorts'> {
  /** Default: over HTTP. */
  readonly send?: Send | undefined
  /** Allowed receivers on other machines, each an exact `host:port`. */
  readonly targets: readonly string[]
}

export type WebhookSenders = ReturnType<typeof webhookSenders>

/**
 * The senders of all sandboxes of one process. They share the allowed targets and the limit of parallel requests.
 * @throws RangeError for a malformed target
 */
export function webhookSenders({ targets: allowed, forbiddenPorts, send: given }: WebhookSendersOptions) {
  const targets = new Targets({ allowed: allowTargets(allowed), forbiddenPorts })
  const send = given ?? lazySender(targets)
  const slots = new Slots()
  const senders = new Set<WebhookSender>()
  let isOpen = false
  return {
    /** Starts sending. Call it when the emulator accepts requests, because a receiver may query it about a webhook. */
    open(): void {
      isOpen = true
      for (const sender of senders) sender.start()
    },
    /**
     * Sends the webhooks of a sandbox, but not before `open` is called.
     * @returns a function that stops it: attempts in progress are aborted, and the process that opens the sandbox next repeats
     * them
     */
    attach(sandbox: Sandbox): Cancel {
      const sender = new WebhookSender({ sandbox, slots, send })
      senders.add(sender)
      const remove = sandbox.deliveries.add(sender)
      sandbox.deliveries.checkWith((url) => targets.problemOf(url))
      if (isOpen) sender.start()
      return () => {
        senders.delete(sender)
        remove()
        sender.stop()
      }
    },
  }
}

// Loaded for the first webhook: most sandboxes send none, and loading TLS would slow down each start.
function lazySender(targets: Targets): Send {
  const sender = once(async () => (await loaded(import('./send.ts'))).sender(targets))
  return async (message, bounds) => (await sender())(message, bounds)
}
