import type { Sandbox } from '../../kernel/worlds/sandbox.ts'
import type { Cancel } from '../realtime.ts'
import { Courier } from './courier.ts'
import type { Send } from './send.ts'
import { Slots } from './slots.ts'
import { allowTargets, type TargetOptions, Targets } from './targets.ts'

export interface CouriersOptions extends Pick<TargetOptions, 'forbiddenPorts'> {
  /** Receivers beyond this machine, each an exact `host:port`. */
  readonly targets: readonly string[]
}

/** The couriers of all worlds of one process. They share where they may go, and how many requests are under way. */
export class Couriers {
  readonly #send: Send
  readonly #slots = new Slots()
  readonly #couriers = new Set<Courier>()
  #isOpen = false

  /** @throws RangeError for a target that is none */
  constructor({ targets, forbiddenPorts }: CouriersOptions) {
    this.#send = lazySender(new Targets({ allowed: allowTargets(targets), forbiddenPorts }))
  }

  /** Sends from now on: to be called when the emulator answers, because receivers ask it about what they are told. */
  open(): void {
    this.#isOpen = true
    for (const courier of this.#couriers) courier.start()
  }

  /**
   * Sends the webhooks of a world, once this is open.
   * @returns stops it; what is under way is cut off, and made again by whoever goes on with the world
   */
  attach(sandbox: Sandbox): Cancel {
    const courier = new Courier({ sandbox, slots: this.#slots, send: this.#send })
    this.#couriers.add(courier)
    sandbox.outbox = courier
    if (this.#isOpen) courier.start()
    return () => {
      this.#couriers.delete(courier)
      courier.stop()
    }
  }
}

// Most worlds send nothing, and a start should not wait for what TLS takes to load.
function lazySender(targets: Targets): Send {
  let sender: Promise<Send> | undefined
  return async (message, bounds) => {
    sender ??= import('./send.ts').then((module) => module.sender(targets))
    return (await sender)(message, bounds)
  }
}
