import type { AnyControl } from '../../../core/operation.ts'
import { change } from '../../../core/sandboxes/change.ts'
import type { Service } from '../../../core/service.ts'
import { runEvents } from '../../../core/time/run-events.ts'
import type { AnyControlRoute } from '../route.ts'

/** The interventions that resources declare, as routes. Each runs in one transaction, and then due events run at once. */
export function interventionRoutes({ resources }: Service): readonly AnyControlRoute[] {
  return resources.flatMap((resource) =>
    (resource.controls ?? []).map((control) => interventionRoute(resource.name, control)),
  )
}

function interventionRoute(resource: string, control: AnyControl): AnyControlRoute {
  return {
    ...control,
    name: `${resource}.${control.name}`,
    returns: 'The result of the intervention.',
    handle: ({ sandbox, params, body, query }) => {
      const { result } = change(sandbox, (scope) => control.handle(scope, { params, body, query }))
      // At the instant of the change, which a replay can repeat: the clock is not read again.
      runEvents(sandbox, sandbox.clock.now)
      return { body: result }
    },
  }
}
