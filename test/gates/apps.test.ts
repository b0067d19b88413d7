import { testApps } from './apps-cases.ts'

testApps(5)
