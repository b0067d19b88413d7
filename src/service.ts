import { wirePrimitives } from './adapters/http/faults/primitives.ts'
import { ruleFunctions } from './core/faults/arm.ts'
import { statePrimitives } from './core/faults/hooks.ts'
import { service } from './core/service.ts'
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
