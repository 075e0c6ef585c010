// Prints what Go's own text/template makes of each template on standard input, so that our reading of
// the language is compared with the language itself. One JSON array in, one JSON array out.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"text/template"
)

type Requirement struct {
	Key      string
	Operator string
	Values   []string
}

type Context struct {
	ClusterID            string
	Requirements         []Requirement
	MachineID            string
	MachineIDLabel       string
	BootstrapToken       string
	BootstrapTokenExpiry string
	APIServerEndpoint    string
	CACertBase64         string
	CACertHash           string
	KubernetesVersion    string
}

type result struct {
	Template string `json:"template"`
	Output   string `json:"output,omitempty"`
	// "parse" or "execute"; empty when it rendered.
	Failure string `json:"failure,omitempty"`
}

func main() {
	var input struct {
		Context   Context
		Templates []string
	}
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	functions := template.FuncMap{
		"fail": func(args ...any) (string, error) { return "", fmt.Errorf("%s", fmt.Sprint(args...)) },
	}
	results := make([]result, 0, len(input.Templates))
	for _, text := range input.Templates {
		parsed, err := template.New("bootstrap").Funcs(functions).Parse(text)
		if err != nil {
			results = append(results, result{Template: text, Failure: "parse"})
			continue
		}
		var out bytes.Buffer
		if err := parsed.Execute(&out, input.Context); err != nil {
			results = append(results, result{Template: text, Failure: "execute"})
			continue
		}
		results = append(results, result{Template: text, Output: out.String()})
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(results); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
