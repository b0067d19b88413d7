import type { Control, Service } from '../../../core/operation.ts'
import { change } from '../../../core/sandboxes/change.ts'
import { runDueEvents } from '../../../core/time/run-events.ts'
import { nothing } from '../input.ts'
import { type AnyRoute, route } from '../route.ts'

/** The interventions that resources declare, as routes: each runs in one transaction, and what it makes due happens at once. */
export function interventionRoutes({ resources }: Service): readonly AnyRoute[] {
  return resources.flatMap((resource) =>
    (resource.controls ?? []).map((control) => interventionRoute(resource.name, control)),
  )
}

function interventionRoute(
  resource: string,
  { name, method, path, summary, body, handle }: Control,
): AnyRoute {
  return route({
    name: `${resource}.${name}`,
    method,
    path: path as string,
    summary,
    answers: 'What the intervention did or shows.',
    body: body ?? nothing,
    handle: ({ sandbox, params, body }) => {
      const { result } = change(sandbox, (scope) =>
        handle(scope, { params: params as Readonly<Record<string, string>>, body }),
      )
      runDueEvents(sandbox)
      return { body: result }
    },
  })
}
