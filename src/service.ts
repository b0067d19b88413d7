import { primitivesWithoutPort, wirePrimitives } from './adapters/http/faults/primitives.ts'
import { ruleFunctions } from './core/faults/arm.ts'
import { statePrimitives } from './core/faults/hooks.ts'
import { type Service, service } from './core/service.ts'
import { resources } from './resources/index.ts'
import { presets } from './resources/presets/index.ts'

/** The primitives and presets of fault rules, and the functions with which state documents and scenarios change rules. */
export const serviceFaults = {
  primitives: [...wirePrimitives, ...statePrimitives],
  presets,
  rules: ruleFunctions,
}

/** The emulated service: its resources, and what fault rules can do to it. */
export const workspaceService = service(resources, serviceFaults)

/** The same service for an emulator without a port. */
export const serviceWithoutPort: Service = {
  ...workspaceService,
  primitives: new Map([
    ...workspaceService.primitives,
    ...primitivesWithoutPort.map((each) => [each.name, each] as const),
  ]),
}
