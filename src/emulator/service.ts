import { ruleFunctions } from '../core/faults/arm.ts'
import { statePrimitives } from '../core/faults/state-primitives.ts'
import { type Service, type ServiceFacts, service } from '../core/service.ts'
import { primitivesWithoutPort, wirePrimitives } from '../server/http/faults/primitives.ts'
import { generalAssumptions } from '../service/assumptions.ts'
import { resources } from '../service/index.ts'
import { presets } from '../service/presets/index.ts'
import type { InternalOptions } from './options.ts'

/** What every service of an emulator has beside its resources. */
export const serviceFacts: ServiceFacts = {
  assumptions: generalAssumptions,
  primitives: [...wirePrimitives, ...statePrimitives],
  presets,
  rules: ruleFunctions,
}

/** The emulated service: its resources, and what fault rules can do to it. */
export const workspaceService = service(resources, serviceFacts)

/** The same service for an emulator without a port. */
const serviceWithoutPort: Service = {
  ...workspaceService,
  primitives: new Map([
    ...workspaceService.primitives,
    ...primitivesWithoutPort.map((each) => [each.name, each] as const),
  ]),
}

/** The service of an emulator. A replay opens no port, and has the service of the one that was recorded. */
export function serviceFor({ listen, replay }: Pick<InternalOptions, 'listen' | 'replay'>): Service {
  const hasPort = replay === undefined ? listen !== false : new URL(replay.origin).port !== ''
  return hasPort ? workspaceService : serviceWithoutPort
}
