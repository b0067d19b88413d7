import { ruleFunctions } from '../core/faults/arm.ts'
import { statePrimitives } from '../core/faults/hooks.ts'
import { type Service, service } from '../core/service.ts'
import { primitivesWithoutPort, wirePrimitives } from '../server/http/faults/primitives.ts'
import { resources } from '../service/index.ts'
import { presets } from '../service/presets/index.ts'
import type { InternalOptions } from './options.ts'

/** The primitives and presets of fault rules, and the functions with which state documents and scenarios change rules. */
export const serviceFaults = {
  primitives: [...wirePrimitives, ...statePrimitives],
  presets,
  rules: ruleFunctions,
}

/** The emulated service: its resources, and what fault rules can do to it. */
export const workspaceService = service(resources, serviceFaults)

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
