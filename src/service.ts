import { wirePrimitives } from './adapters/http/faults/primitives.ts'
import { statePrimitives } from './core/faults/primitives.ts'
import { service } from './core/operation.ts'
import { resources } from './resources/index.ts'
import { presets } from './resources/presets/index.ts'

/** What fault rules can do, and those that have a name. */
export const serviceFaults = { primitives: [...wirePrimitives, ...statePrimitives], presets }

/** The emulated service: its resources, and what fault rules can do to it. */
export const workspaceService = service(resources, serviceFaults)
