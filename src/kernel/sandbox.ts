import type { Commit, Row } from './commit.ts'
import { checkDocument } from './document.ts'
import { refuseInvalid } from './errors.ts'
import type { Call } from './exchange.ts'
import type { JsonObject } from './json.ts'
import type { Scope } from './operation.ts'
import { type Answer, perform } from './perform.ts'
import { advanceTo, type Receipt, settle } from './settle.ts'
import { SETTINGS, WORLD, type WorldState } from './state.ts'
import { World } from './world.ts'

/** One isolated world and all that can be done with it. */
export class Sandbox extends World {
  /** Answers one API request, after everything that is due by now has happened. */
  perform(call: Call): Answer {
    return perform(this, call)
  }

  /** Runs everything that is due by the host's clock. */
  catchUp(): Receipt {
    return settle(this, this.clock.due())
  }

  /** Runs everything that is due up to a virtual instant and moves the clock there, durably. */
  advanceTo(instant: number): Receipt {
    return advanceTo(this, instant)
  }

  /** Runs the next `count` events, whenever they are due, and leaves the clock at the last one. */
  advanceSteps(count: number): Receipt {
    this.catchUp()
    const receipt = settle(this, Number.POSITIVE_INFINITY, count)
    this.setClock()
    return receipt
  }

  /** A change from outside the API, in a transaction of its own. When `work` throws, nothing has changed. */
  change<T>(work: (scope: Scope) => T): { readonly result: T; readonly commit: Commit | undefined } {
    this.catchUp()
    const scope = this.scope()
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

  /** Replaces the world by its starting world; the clock starts at the instant that the world was built for. */
  reset(start: WorldState): void {
    this.become(start)
  }
}
