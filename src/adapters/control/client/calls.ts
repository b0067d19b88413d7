import type * as z from 'zod'
import type { ControlRoute, ParamsOf } from '../route.ts'
import type { OwnRoute } from '../routes/index.ts'

/** What one route takes and answers, as its declaration says. */
type CallOf<R> =
  R extends ControlRoute<infer _Verb, infer Path, infer Body, infer Query, infer Answer>
    ? {
        readonly params: ParamsOf<Path>
        readonly body: z.input<Body>
        readonly query: z.input<Query>
        readonly answer: Answer
      }
    : never

/** Every call of the control interface itself, by method and path template: `POST /clock/advance`. */
export type Calls = { readonly [R in OwnRoute as `${R['method']} ${R['path']}`]: CallOf<R> }
