import type { Control, Service } from '../../../kernel/operation.ts'
import { nothing } from '../input.ts'
import { type AnyRoute, route } from '../route.ts'

/** The interventions that resources declare, as routes: each runs in one transaction, and what it makes due happens at once. */
export function interventionRoutes({ resources }: Service): readonly AnyRoute[] {
  return resources.flatMap((room) =>
    (room.controls ?? []).map((control) => interventionRoute(room.name, control)),
  )
}

function interventionRoute(room: string, { name, method, path, summary, body, handle }: Control): AnyRoute {
  return route({
    name: `${room}.${name}`,
    method,
    path: path as string,
    summary,
    answers: 'What the intervention did or shows.',
    body: body ?? nothing,
    handle: ({ sandbox, params, body }) => {
      const { result } = sandbox.change((scope) =>
        handle(scope, { params: params as Readonly<Record<string, string>>, body }),
      )
      sandbox.catchUp()
      return { body: result }
    },
  })
}
