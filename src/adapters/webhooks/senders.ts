import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import type { Cancel } from '../realtime.ts'
import type { Send } from './send.ts'
import { Slots, WebhookSender } from './sender.ts'
import { allowTargets, type TargetOptions, Targets } from './targets.ts'

interface WebhookSendersOptions extends Pick<TargetOptions, 'forbiddenPorts'> {
  /** Receivers beyond this machine, each an exact `host:port`. */
  readonly targets: readonly string[]
}

/** The senders of all sandboxes of one process. They share where they may go, and how many requests are under way. */
export class WebhookSenders {
  readonly #targets: Targets
  readonly #send: Send
  readonly #slots = new Slots()
  readonly #senders = new Set<WebhookSender>()
  #isOpen = false

  /** @throws RangeError for a target that is none */
  constructor({ targets, forbiddenPorts }: WebhookSendersOptions) {
    this.#targets = new Targets({ allowed: allowTargets(targets), forbiddenPorts })
    this.#send = lazySender(this.#targets)
  }

  /** Sends from now on: to be called when the emulator answers, because receivers ask it about what they are told. */
  open(): void {
    this.#isOpen = true
    for (const sender of this.#senders) sender.start()
  }

  /**
   * Sends the webhooks of a sandbox, once this is open.
   * @returns stops it; what is under way is cut off, and made again by the process that continues with the sandbox
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

// Most sandboxes send nothing, and a start should not wait for what TLS takes to load.
function lazySender(targets: Targets): Send {
  let sender: Promise<Send> | undefined
  return async (message, bounds) => {
    sender ??= import('./send.ts').then((module) => module.sender(targets))
    return (await sender)(message, bounds)
  }
}
