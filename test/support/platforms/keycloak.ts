/** What a validator meets in Keycloak (server-spi): its types by file, and a program that asks for `<email>…`. */

const inPackage = (name: string, types: Readonly<Record<string, string>>) =>
  Object.entries(types).map(([type, code]) => [
    `org/keycloak/${name}/${type}.java`,
    `package org.keycloak.${name};\n${code}\n`,
  ]);

export const KEYCLOAK: Readonly<Record<string, string>> = {
  ...Object.fromEntries([
    ...inPackage('provider', {
      ProviderConfigProperty: 'public class ProviderConfigProperty {}',
      ConfiguredProvider: `public interface ConfiguredProvider {
        String getHelpText();
        java.util.List<ProviderConfigProperty> getConfigProperties();
      }`,
    }),
    ...inPackage('validate', {
      ValidatorConfig: 'public class ValidatorConfig {}',
      ValidationContext: `public class ValidationContext {
        public final java.util.List<ValidationError> errors = new java.util.ArrayList<>();
        public void addError(ValidationError error) { errors.add(error); }
      }`,
      ValidationError: `public class ValidationError {
        private final String message;
        public ValidationError(String validatorId, String inputHint, String message) { this.message = message; }
        public String getMessage() { return message; }
      }`,
      AbstractStringValidator: `public abstract class AbstractStringValidator {
        public abstract String getId();
        protected abstract void doValidate(String value, String inputHint, ValidationContext context, ValidatorConfig config);
        public ValidationContext validate(Object input, String inputHint, ValidationContext context, ValidatorConfig config) {
          doValidate(input.toString(), inputHint, context, config);
          return context;
        }
      }`,
    }),
  ]),
  'Ask.java': `import org.keycloak.validate.*;
    public class Ask {
      public static void main(String[] emails) {
        for (String email : emails) {
          var errors = new DomainRisk().validate(email, "email", new ValidationContext(), new ValidatorConfig()).errors;
          System.out.println(errors.isEmpty() ? "None" : errors.get(0).getMessage());
        }
      }
    }`,
};
