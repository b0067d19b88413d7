import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import type { Cancel } from '../realtime.ts'
import type { Send } from './send.ts'
import { Slots, WebhookSender } from './sender.ts'
import { allowTargets, type TargetOptions, Targets } from './targets.ts'

interface WebhookSendersOptions extends Pick<TargetOptions, 'forbiddenPorts'> {
  /** Default: over HTTP. */
  readonly send?: Send | undefined
  /** Allowed receivers on other machines, each an exact `host:port`. */
  readonly targets: readonly string[]
}

/** The senders of all sandboxes of one process. They share the allowed targets and the limit of parallel requests. */
export class WebhookSenders {
  readonly #targets: Targets
  readonly #send: Send
  readonly #slots = new Slots()
  readonly #senders = new Set<WebhookSender>()
  #isOpen = false

  /** @throws RangeError for a malformed target */
  constructor({ targets, forbiddenPorts, send }: WebhookSendersOptions) {
    this.#targets = new Targets({ allowed: allowTargets(targets), forbiddenPorts })
    this.#send = send ?? lazySender(this.#targets)
  }

  /** Starts sending. Call it when the emulator accepts requests, because a receiver may query it about a webhook. */
  open(): void {
    this.#isOpen = true
    for (const sender of this.#senders) sender.start()
  }

  /**
   * Sends the webhooks of a sandbox, but not before {@link open} is called.
   * @returns a function that stops it: attempts in progress are aborted, and the process that opens the sandbox next repeats them
   */
  attach(sandbox: Sandbox): Cancel {
    const sender = new WebhookSender({ sandbox, slots: this.#slots, send: this.#send })
    this.#senders.add(sender)
    sandbox.pendingWork = sender
    sandbox.receiverProblem = (url) => this.#targets.problemOf(url)
    if (this.#isOpen) sender.start()
    return () => {
      this.#senders.delete(sender)
      sender.stop()
    }
  }
}

// Loaded for the first webhook: most sandboxes send none, and loading TLS would slow down each start.
function lazySender(targets: Targets): Send {
  let sender: Promise<Send> | undefined
  return async (message, bounds) => {
    sender ??= import('./send.ts').then((module) => module.sender(targets))
    return (await sender)(message, bounds)
  }
}
