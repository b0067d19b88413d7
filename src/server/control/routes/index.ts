import type { Service } from '../../../core/service.ts'
import type { AnyControlRoute } from '../route.ts'
import { aboutRoutes } from './about.ts'
import { assumptionRoutes } from './assumptions.ts'
import { clockRoutes } from './clock.ts'
import { endpointRoutes } from './endpoints.ts'
import { eventRoutes } from './events.ts'
import { faultRoutes } from './faults.ts'
import { gateRoutes } from './gates.ts'
import { interventionRoutes } from './interventions.ts'
import { limitRoutes } from './limits.ts'
import { recordRoutes } from './records.ts'
import { referenceRoutes } from './reference.ts'
import { reportRoutes } from './reports.ts'
import { requestCheckRoutes } from './request-checks.ts'
import { requestRoutes } from './requests.ts'
import { sandboxRoutes } from './sandboxes.ts'
import { scenarioRoutes } from './scenarios.ts'
import { stateRoutes } from './state.ts'
import { stubRoutes } from './stubs.ts'

/** The routes of the control interface itself, each with the types of its input and output. */
const ownRoutes = (service: Service) =>
  [
    ...aboutRoutes,
    ...clockRoutes(service),
    ...sandboxRoutes,
    ...stateRoutes,
    ...recordRoutes,
    ...requestRoutes,
    ...requestCheckRoutes(service),
    ...reportRoutes,
    ...eventRoutes,
    ...limitRoutes,
    ...stubRoutes(service),
    ...scenarioRoutes,
    ...endpointRoutes,
    ...faultRoutes(service),
    ...gateRoutes,
    ...assumptionRoutes,
    ...referenceRoutes,
  ] as const

/** One of the routes of the control interface itself. */
export type OwnRoute = ReturnType<typeof ownRoutes>[number]

/** Every route of the control interface: its own, and the interventions that the service's resources declare. */
export function controlRoutes(service: Service): readonly AnyControlRoute[] {
  const routes = declared.get(service) ?? [...ownRoutes(service), ...interventionRoutes(service)]
  declared.set(service, routes)
  return routes
}

// All emulators of a process share the routes, since schemas are kept by route.
const declared = new WeakMap<Service, readonly AnyControlRoute[]>()
