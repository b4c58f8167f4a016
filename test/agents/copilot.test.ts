import { describeProgram } from './contract.ts';
import { copilot } from './programs.ts';

describeProgram(copilot);
