import { refuse } from '../../../core/errors.ts'
import { coverageOf, coverageReport } from '../coverage/report.ts'
import { route } from '../route.ts'

/** Which part of the contract the clients have met. */
export const coverageRoutes = [
  route('GET /coverage', {
    name: 'coverage',
    summary: 'Show which points of the contract the clients have met since the start, in all sandboxes',
    returns:
      'Every point, their counts, and the ten cheapest points that were not met, each with a way to meet it.',
    withoutSandbox: true,
    output: coverageReport,
    handle: ({ host: { coverage } }) => {
      const points = coverage()
      if (points !== undefined) return { body: coverageOf(points) }
      return refuse('conflict', {
        detail: 'Coverage is not counted.',
        mitigation:
          'Start the emulator with --count-coverage or startEmulator({ countCoverage: true }), or open the dashboard.',
      })
    },
  }),
] as const
