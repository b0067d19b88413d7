import { testApps } from './apps-cases.ts'

// A race that is only likely would be missed by some of them.
testApps(100)
