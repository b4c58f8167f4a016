import { describeProgram } from './contract.ts';
import { openCode } from './programs.ts';

describeProgram(openCode);
