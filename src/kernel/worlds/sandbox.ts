import { refuseInvalid } from '../errors.ts'
import type { Decision, Sent } from '../faults/decision.ts'
import type { JsonObject } from '../json.ts'
import type { Scope } from '../operation.ts'
import type { Answer } from '../request/answer.ts'
import type { Call } from '../request/exchange.ts'
import { decide } from '../request/interfere.ts'
import { cutOff, perform } from '../request/perform.ts'
import { runStep, STEP } from '../scenario/timeline.ts'
import type { Commit, Row } from '../state/commit.ts'
import { checkDocument } from '../state/document.ts'
import { SETTINGS, WORLD } from '../state/state.ts'
import { advance, type Target } from '../time/advance.ts'
import type { Receipt } from '../time/receipt.ts'
import type { ScheduledEvent } from '../time/scheduler.ts'
import { settle } from '../time/settle.ts'
import { World } from './world.ts'

/** One isolated world and all that can be done with it. */
export class Sandbox extends World {
  #passage: Promise<unknown> = Promise.resolve()

  /** Answers one API request, after everything that is due by now has happened. */
  perform(call: Call): Answer {
    return perform(this, call)
  }

  /** What the fault rules say of a request. `head`: its body has not been read; call again with `call` and the result. */
  decide(call: Call, phase: 'head' | 'call'): Decision | undefined {
    return decide(this, call, phase)
  }

  /** Logs a request that a fault cut off before anybody performed it. */
  cutOff(call: Call, sent: Sent): void {
    cutOff(this, call, sent)
  }

  override handlerOf(kind: string) {
    if (kind !== STEP) return super.handlerOf(kind)
    return (scope: Scope, event: ScheduledEvent) => runStep(this, scope, event)
  }

  /** Runs everything that is due by the host's clock. */
  catchUp(): Receipt {
    return settle(this, this.clock.due())
  }

  /**
   * Lets time pass up to a target and its webhooks be delivered. One passage of time waits for the one before it, so a
   * receiver of a webhook that advances the clock and waits for that waits for itself.
   */
  advance(target: Target): Promise<Receipt> {
    const turn = this.#passage.then(() => advance(this, target, this.outbox))
    this.#passage = turn.catch(() => {})
    return turn
  }

  /** A change from outside the API, in a transaction of its own. When `work` throws, nothing has changed. */
  change<T>(
    work: (scope: Scope) => T,
    cause = 'control',
  ): { readonly result: T; readonly commit: Commit | undefined } {
    this.catchUp()
    const scope = this.scope(cause)
    const result = work(scope)
    return { result, commit: this.commit(scope) }
  }

  /** Replaces the settings, or refuses them whole with every issue. */
  setSettings(values: JsonObject): void {
    refuseInvalid(this.ledger.check(values))
    // Records that were right under the old settings need not be under the new ones.
    const checked = checkDocument(
      { ...this.document(), settings: values },
      this.service,
      this.ledger,
      this.options.strict,
    )
    if ('issues' in checked) refuseInvalid(checked.issues)
    this.change(({ tx }) => tx.put(WORLD, { id: SETTINGS, values } as Row))
  }

  /** Replaces the world by a document from outside, or refuses it whole with every issue. */
  load(document: unknown): void {
    const checked = checkDocument(document, this.service, this.ledger, this.options.strict)
    if ('issues' in checked) refuseInvalid(checked.issues)
    else this.become(checked.world)
  }
}
